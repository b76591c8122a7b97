package dev.baton.chaos.report;

import dev.baton.chaos.checker.Outcome;
import dev.baton.chaos.checker.Verdict;
import dev.baton.chaos.checker.Verdict.CheckResult;
import dev.baton.chaos.checker.Verdict.Round;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.Observation.Began;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Map;

/** A page to look at, in one file that needs nothing else. */
final class Page {
  private static final DateTimeFormatter DAY =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final History history;
  private final Verdict verdict;

  private Page(History history, Verdict verdict) {
    this.history = history;
    this.verdict = verdict;
  }

  static String of(History history, Verdict verdict) {
    return new Page(history, verdict).html();
  }

  private String html() {
    String word = verdict.verdict().word();
    return """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>%s: %s</title>
    <style>
    %s</style>
    </head>
    <body><main>
    <header><h1>%s</h1><span class="verdict %s">%s</span><span class="sub">%s</span></header>
    <section class="figures">%s</section>
    <h2>What happened</h2>
    <section class="panel">%s</section>
    <h2>Faults</h2>
    <section class="panel">%s</section>
    <h2>Promises</h2>
    <section class="panel">%s</section>
    %s
    <footer>Red bars: the process was dead; amber: stopped, or told to end. Red ticks below the curve: operations of
    clients without an answer. All moments are of the monotonic clock. <code>history.jsonl</code> beside this page has
    everything; <code>baton chaos judge</code> judges it again.</footer>
    </main></body>
    </html>
    """
        .formatted(
            Html.escape(verdict.scenario()),
            word,
            css(),
            Html.escape(verdict.scenario()),
            word,
            word,
            Html.escape(subtitle()),
            figures(),
            new Timeline(history).svg(),
            faults(),
            promises(),
            reruns());
  }

  private String subtitle() {
    Began began = history.began().orElse(new Began(0, 0, "unknown", 0, "unknown", "unknown", 0, 0));
    String stood =
        verdict.stalledMs() == 0
            ? ""
            : ", the machine stood still for " + Html.seconds(verdict.stalledMs() / 1000.0);
    return String.format(
        Locale.ROOT,
        "%s, seed %d, environment %s, version %s, %.0f runs/s%s",
        DAY.format(Instant.ofEpochMilli(began.wallMillis())),
        verdict.seed(),
        verdict.environment(),
        verdict.version(),
        began.runsPerSecond(),
        stood);
  }

  private String figures() {
    Verdict.Milliseconds times = verdict.failoverMs();
    StringBuilder all = new StringBuilder();
    all.append(figure(Html.number(verdict.runsSubmitted()), "runs submitted"));
    all.append(figure(Html.number(verdict.runsEnded()), "runs ended"));
    all.append(figure(Html.number(verdict.lost()), "committed runs lost"));
    all.append(figure(Html.number(verdict.duplicateCompletions()), "results accepted twice"));
    all.append(figure(Html.number(verdict.unfencedWrites()), "unfenced writes"));
    all.append(figure(Html.number(verdict.rerunsOfFinishedTasks()), "finished tasks run again"));
    all.append(figure(Html.number(verdict.rerunsOfRunningTasks()), "running tasks run again"));
    if (times.count() > 0) {
      all.append(figure(Html.millis(times.p50()), "fail-over, median of " + times.count()));
      all.append(figure(Html.millis(times.max()), "fail-over, longest"));
    }
    Verdict.Milliseconds losses = verdict.workerLossMs();
    if (losses.count() > 0) {
      all.append(
          figure(
              Html.millis(losses.p50()),
              "a dead worker's tasks start again, median of " + losses.count()));
      all.append(figure(Html.millis(losses.max()), "the same, longest"));
    }
    return all.toString();
  }

  private static String figure(String value, String name) {
    return "<div class=\"figure\"><b>%s</b><span>%s</span></div>".formatted(value, name);
  }

  private String faults() {
    StringBuilder rows = new StringBuilder();
    for (Round round : verdict.roundDetails()) {
      rows.append(
          """
          <tr><td class="number">%d</td><td>%s</td><td>%s</td><td class="number">%s</td><td class="number">%s</td>
          <td>%s</td><td>%s</td><td class="number">%s</td></tr>
          """
              .formatted(
                  round.round(),
                  Html.escape(round.fault()),
                  Html.escape(String.join(", ", round.targets())),
                  Html.seconds(round.injectedSeconds()),
                  Html.seconds(round.healedSeconds()),
                  Html.escape(round.nextLeader()),
                  failover(round),
                  Html.number(round.operations())));
    }
    verdict
        .skipped()
        .forEach(skip ->
            rows.append(
                "<tr><td></td><td>%s</td><td colspan=\"6\">skipped: %s</td></tr>"
                    .formatted(Html.escape(skip.fault()), Html.escape(skip.reason()))));
    return """
    <table><tr><th class="number">round</th><th>fault</th><th>hit</th><th class="number">from</th><th class="number">to</th>
    <th>next leader</th><th>fail-over, of its bound</th><th class="number">operations</th></tr>
    %s</table>
    """
        .formatted(rows);
  }

  private static String failover(Round round) {
    if (round.boundMs() == 0) {
      return "none expected";
    }
    if (round.failoverMs() < 0) {
      return "<span class=\"invalid\">nothing was assigned</span>";
    }
    double part = Math.min(1, (double) round.failoverMs() / round.boundMs());
    return String.format(
        Locale.ROOT,
        "%s of %s<span class=\"bar%s\"><i style=\"width:%.0f%%\"></i></span>",
        Html.millis(round.failoverMs()),
        Html.millis(round.boundMs()),
        round.failoverMs() > round.boundMs() ? " over" : "",
        100 * part);
  }

  private String promises() {
    StringBuilder rows = new StringBuilder();
    for (CheckResult check : verdict.checks()) {
      StringBuilder evidence = new StringBuilder();
      if (check.outcome() != Outcome.VALID) {
        evidence.append("<ul class=\"evidence\">");
        check
            .evidence()
            .forEach(each -> evidence.append("<li>").append(Html.escape(each)).append("</li>"));
        evidence.append("</ul>");
      }
      rows.append(
          """
          <tr><td class="check %s">%s</td><td>%s%s</td><td class="number">%s</td><td class="number">%s</td></tr>
          """
              .formatted(
                  check.outcome().word(),
                  check.outcome().word(),
                  Html.escape(check.promise()),
                  evidence,
                  Html.number(check.looked()),
                  Html.number(check.violations())));
    }
    return """
    <table><tr><th></th><th>promise</th><th class="number">judged</th><th class="number">broken</th></tr>
    %s</table>
    """
        .formatted(rows);
  }

  private String reruns() {
    if (verdict.secondExecutions().isEmpty()) {
      return "";
    }
    StringBuilder rows = new StringBuilder();
    verdict.secondExecutions().entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(each ->
            rows.append(
                "<tr><td>%s</td><td class=\"number\">%s</td></tr>"
                    .formatted(Html.escape(each.getKey()), Html.number(each.getValue()))));
    return """
    <h2>Why tasks were executed again</h2>
    <section class="panel"><table><tr><th>reason</th><th class="number">executions</th></tr>
    %s</table></section>
    """
        .formatted(rows);
  }

  private static String css() {
    try (InputStream in = Page.class.getResourceAsStream("page.css")) {
      if (in == null) {
        throw new IllegalStateException("Expected page.css beside its class.");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
