package dev.baton.workflow;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The parameters of a run: what was given, and defaults for the rest. */
final class RunParameters {
  private final Workflow workflow;
  private final Problems problems = new Problems();

  RunParameters(Workflow workflow) {
    this.workflow = workflow;
  }

  Judged<String> bind(Map<String, String> given) {
    Map<String, String> values = new TreeMap<>();
    for (Parameter param : new TreeMap<>(workflow.params()).values()) {
      String value = given.getOrDefault(param.name(), param.defaultJson());
      if (value == null) {
        report(param.name(), "the run needs a value for it, since it has no default");
      } else {
        values.put(param.name(), value);
      }
    }
    StringBuilder object = new StringBuilder();
    values.forEach((name, value) -> {
      object.append(object.isEmpty() ? "{" : ",");
      JsonText.quote(name, object);
      object.append(':');
      append(name, value, object);
    });
    object.append(object.isEmpty() ? "{}" : "}");
    for (String name : new TreeMap<>(given).keySet()) {
      if (!workflow.params().containsKey(name)) {
        report(
            Words.shorten(name, Limits.ID_LENGTH),
            "the workflow has no parameter "
                + Words.quoted(name)
                + Words.didYouMean(name, workflow.params().keySet(), "; it has " + names()));
      }
    }
    int size = JsonText.utf8Length(object);
    if (size > Limits.PARAMS_BYTES) {
      problems.add(
          Place.ROOT.field("params"),
          0,
          0,
          () ->
              "the parameters have "
                  + Limits.count(size)
                  + " bytes together, more than the limit of "
                  + Limits.bytes(Limits.PARAMS_BYTES)
                  + "; give the place of the data instead");
    }
    return problems.isEmpty() ? new Judged.Accepted<>(object.toString()) : problems.refusal();
  }

  private String names() {
    Set<String> names = workflow.params().keySet();
    return names.isEmpty() ? "none" : String.join(", ", new TreeSet<>(names));
  }

  private void append(String name, String value, StringBuilder object) {
    if (value.length() > Limits.PARAMS_BYTES) {
      // Counted, not parsed.
      object.append(value);
      return;
    }
    try {
      JsonText.write(JsonSource.parse(value, Limits.DEPTH), object);
    } catch (SourceException malformed) {
      report(
          name,
          Words.quoted(value)
              + " is not JSON ("
              + malformed.problem().message()
              + "); put a text in double quotes");
    }
  }

  private void report(String name, String message) {
    problems.add(Place.ROOT.field("params").field(name), 0, 0, () -> message);
  }
}
