package dev.baton.workflow;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Who depends on whom. Nothing here recurses: a chain may be 10,000 tasks long. */
final class Graph {
  /** Tasks of a cycle that a report shows. */
  private static final int SHOWN = 20;

  private final List<Definition.Draft> drafts;
  private final Map<String, Integer> indices;
  private final List<List<Integer>> dependencies;
  private int @Nullable [] order;
  private BitSet @Nullable [] ancestors;

  private Graph(List<Definition.Draft> drafts) {
    this.drafts = drafts;
    this.indices = HashMap.newHashMap(drafts.size());
    this.dependencies = new ArrayList<>(drafts.size());
  }

  /** Turns ids into indices; what names nothing is reported and left out. */
  static Graph link(List<Definition.Draft> drafts, Problems problems) {
    Graph graph = new Graph(drafts);
    for (Definition.Draft draft : drafts) {
      Integer first = draft.id().isEmpty() ? null : graph.indices.get(draft.id());
      if (first != null) {
        problems.add(
            draft.place().field("id"),
            draft.node(),
            () ->
                "the id '"
                    + draft.id()
                    + "' is taken by "
                    + drafts.get(first).place()
                    + " (line "
                    + drafts.get(first).node().line()
                    + "); ids are unique in a workflow");
      } else {
        graph.indices.put(draft.id(), draft.index());
      }
    }
    graph.indices.remove("");
    int edges = 0;
    for (Definition.Draft draft : drafts) {
      List<Integer> named = graph.resolve(draft, problems);
      graph.dependencies.add(named);
      edges += named.size();
      if (edges > Limits.DEPENDENCIES && edges - named.size() <= Limits.DEPENDENCIES) {
        problems.add(
            draft.place().field("dependsOn"),
            draft.node(),
            () ->
                "here the workflow comes to more dependencies than the limit of "
                    + Limits.count(Limits.DEPENDENCIES)
                    + "; let a task in between gather them");
      }
    }
    return graph;
  }

  private List<Integer> resolve(Definition.Draft draft, Problems problems) {
    Set<Integer> named = new HashSet<>();
    List<Integer> list = new ArrayList<>();
    for (int i = 0; i < draft.dependsOn().size(); i++) {
      Node.Scalar scalar = draft.dependsOn().get(i);
      String id = scalar.source();
      Integer index = indices.get(id);
      Place place = draft.place().field("dependsOn").item(i);
      if (index == null) {
        problems.add(
            place,
            scalar,
            () ->
                "there is no task "
                    + Words.quoted(id)
                    + Words.didYouMean(id, indices.keySet(), " in this workflow"));
      } else if (id.equals(draft.id())) {
        problems.add(
            place, scalar, () -> "the task '" + id + "' depends on itself; remove the dependency");
      } else if (!named.add(index)) {
        problems.add(place, scalar, () -> "'" + id + "' is named twice; name it once");
      } else {
        list.add(index);
      }
    }
    return list;
  }

  List<Integer> dependencies(int task) {
    return dependencies.get(task);
  }

  Optional<Integer> indexOf(String id) {
    return Optional.ofNullable(indices.get(id));
  }

  Set<String> ids() {
    return indices.keySet();
  }

  String id(int task) {
    return drafts.get(task).id();
  }

  /** True if there is none; else it is reported. */
  boolean hasNoCycle(Problems problems) {
    int[] sorted = sort();
    if (sorted.length == drafts.size()) {
      order = sorted;
      return true;
    }
    List<Integer> cycle = cycle(sorted);
    Definition.Draft first = drafts.get(cycle.getFirst());
    problems.add(
        first.place().field("dependsOn"),
        first.node(),
        () -> "tasks depend on each other in a circle, each on the next: " + show(cycle));
    return false;
  }

  /** Those that come to stand behind all they depend on. */
  private int[] sort() {
    int[] waitsFor = new int[drafts.size()];
    List<List<Integer>> dependants = new ArrayList<>(drafts.size());
    drafts.forEach(draft -> dependants.add(new ArrayList<>()));
    Deque<Integer> free = new ArrayDeque<>();
    for (int task = 0; task < waitsFor.length; task++) {
      waitsFor[task] = dependencies.get(task).size();
      for (int before : dependencies.get(task)) {
        dependants.get(before).add(task);
      }
      if (waitsFor[task] == 0) {
        free.add(task);
      }
    }
    int[] sorted = new int[drafts.size()];
    int count = 0;
    while (!free.isEmpty()) {
      int task = free.remove();
      sorted[count++] = task;
      for (int next : dependants.get(task)) {
        if (--waitsFor[next] == 0) {
          free.add(next);
        }
      }
    }
    return Arrays.copyOf(sorted, count);
  }

  /** Every task that is not sorted depends on another such: following them comes round. */
  private List<Integer> cycle(int[] sorted) {
    BitSet done = new BitSet();
    for (int task : sorted) {
      done.set(task);
    }
    List<Integer> path = new ArrayList<>();
    int[] position = new int[drafts.size()];
    Arrays.fill(position, -1);
    int task = done.nextClearBit(0);
    while (position[task] < 0) {
      position[task] = path.size();
      path.add(task);
      for (int before : dependencies.get(task)) {
        if (!done.get(before)) {
          task = before;
          break;
        }
      }
    }
    List<Integer> cycle = new ArrayList<>(path.subList(position[task], path.size()));
    int first = cycle.indexOf(cycle.stream().min(Integer::compare).orElseThrow());
    Collections.rotate(cycle, -first);
    return cycle;
  }

  private String show(List<Integer> cycle) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < cycle.size(); i++) {
      if (i == SHOWN && cycle.size() > SHOWN + 1) {
        int left = cycle.size() - SHOWN - 1;
        text.append("(").append(Limits.count(left)).append(" more) -> ");
        i += left;
      }
      text.append(id(cycle.get(i))).append(" -> ");
    }
    return text.append(id(cycle.getFirst())).toString();
  }

  /**
   * All that a task depends on, directly or not. Only after {@link #hasNoCycle}; made at the first
   * call: 12 MB for 10,000 tasks, which most definitions never need.
   */
  BitSet ancestors(int task) {
    if (ancestors == null) {
      if (order == null) {
        throw new IllegalStateException("Expected a graph without cycles");
      }
      BitSet[] sets = new BitSet[drafts.size()];
      for (int next : order) {
        sets[next] = new BitSet(drafts.size());
        for (int before : dependencies.get(next)) {
          sets[next].or(sets[before]);
          sets[next].set(before);
        }
      }
      ancestors = sets;
    }
    return ancestors[task];
  }
}
