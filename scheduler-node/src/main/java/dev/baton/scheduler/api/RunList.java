package dev.baton.scheduler.api;

import dev.baton.coordination.Strand;
import dev.baton.proto.v1.ListRunsRequest;
import dev.baton.proto.v1.ListRunsResponse;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.scheduler.journal.History;
import dev.baton.scheduler.journal.PastRun;
import dev.baton.scheduler.loop.ReadView;
import dev.baton.scheduler.model.RefusalCode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;

/**
 * A page of runs: live ones first, newest first, then the history backwards. A token says where the
 * next page begins: {@code L<run number>} among the live, {@code H<entry>.<index>} in the history.
 * Entries read for a page are bounded; a page can be short and still have a token.
 */
final class RunList {
  private static final int DEFAULT_LIMIT = 50;
  private static final int MAX_LIMIT = 1_000;
  private static final int MAX_ENTRIES_READ = 500;
  // Numbers that fit into a long.
  private static final Pattern TOKEN = Pattern.compile("L\\d{1,18}|H\\d{1,18}\\.\\d{1,9}");
  private static final String HISTORY_START = "H999999999999999999.0";

  private final History history;
  private final Strand strand;
  private final ListRunsRequest request;
  private final int limit;
  private final ListRunsResponse.Builder page = ListRunsResponse.newBuilder();
  private final List<Long> entries = new ArrayList<>();
  private String from;

  RunList(History history, Strand strand, ListRunsRequest request) throws RefusedException {
    this.history = history;
    this.strand = strand;
    this.request = request;
    this.limit = request.getLimit() == 0 ? DEFAULT_LIMIT : request.getLimit();
    this.from = request.getPageToken();
    if (limit < 1 || limit > MAX_LIMIT) {
      throw new RefusedException(
          RefusalCode.INVALID_REQUEST,
          "Expected limit to be 1 to " + MAX_LIMIT + ", but got " + request.getLimit() + ".");
    }
    if (!from.isEmpty() && !TOKEN.matcher(from).matches()) {
      throw new RefusedException(
          RefusalCode.INVALID_REQUEST,
          "Expected page_token to be one that a list gave, but got '"
              + Fields.shortened(from)
              + "'.");
    }
  }

  /**
   * On the loop's thread: takes the live runs, and notes which entries of the history come next.
   */
  RunList collect(ReadView view) {
    page.setSeq(view.seq())
        .setStalenessMs(view.silence().toMillis() > 5_000 ? view.silence().toMillis() : 0);
    if (!from.startsWith("H")) {
      long below = from.isEmpty() ? Long.MAX_VALUE : Long.parseLong(from.substring(1));
      long last = below;
      for (var run : view.state().runsDescending()) {
        if (run.number() >= below || !matches(run)) {
          continue;
        }
        if (page.getRunsCount() == limit) {
          page.setNextPageToken("L" + last);
          return this;
        }
        last = run.number();
        page.addRuns(RunViews.summary(run));
      }
      from = HISTORY_START;
    }
    Iterator<Long> seqs =
        view.state()
            .retained()
            .historySeqsDescending(Long.parseLong(from.substring(1, from.indexOf('.'))));
    while (seqs.hasNext() && entries.size() <= MAX_ENTRIES_READ) {
      entries.add(seqs.next());
    }
    return this;
  }

  private boolean matches(dev.baton.scheduler.engine.Run run) {
    return (request.getState() == RunState.RUN_STATE_UNSPECIFIED
            || request.getState() == RunViews.state(run.status()))
        && (request.getName().isEmpty() || request.getName().equals(run.workflow().name()))
        && (request.getTenant().isEmpty() || request.getTenant().equals(run.created().tenant()));
  }

  private boolean matches(Run run) {
    return (request.getState() == RunState.RUN_STATE_UNSPECIFIED
            || request.getState() == run.getState())
        && (request.getName().isEmpty() || request.getName().equals(run.getWorkflow()))
        && (request.getTenant().isEmpty() || request.getTenant().equals(run.getTenant()));
  }

  /** Reads as much of the history as the page needs. */
  CompletableFuture<ListRunsResponse> complete() {
    if (!page.getNextPageToken().isEmpty() || entries.isEmpty()) {
      return CompletableFuture.completedFuture(page.build());
    }
    int skip = Integer.parseInt(from.substring(from.indexOf('.') + 1));
    long first = Long.parseLong(from.substring(1, from.indexOf('.')));
    return read(0, entries.getFirst() == first ? skip : 0);
  }

  private CompletableFuture<ListRunsResponse> read(int index, int skip) {
    if (index == entries.size()) {
      return CompletableFuture.completedFuture(page.build());
    }
    if (index == MAX_ENTRIES_READ) {
      page.setNextPageToken("H" + entries.get(index) + ".0");
      return CompletableFuture.completedFuture(page.build());
    }
    return history
        .entry(entries.get(index))
        .thenComposeAsync(
            runs -> {
              for (int i = skip; i < runs.size(); i++) {
                PastRun past = runs.get(runs.size() - 1 - i);
                Run run = RunViews.summary(past).build();
                if (!matches(run)) {
                  continue;
                }
                if (page.getRunsCount() == limit) {
                  page.setNextPageToken("H" + entries.get(index) + "." + i);
                  return CompletableFuture.completedFuture(page.build());
                }
                page.addRuns(run);
              }
              return read(index + 1, 0);
            },
            strand);
  }
}
