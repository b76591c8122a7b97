package dev.baton.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.baton.cli.conformance.Conformance;
import dev.baton.cli.conformance.Rule;
import dev.baton.cli.conformance.Verdict;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal.Style;
import dev.baton.node.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Holds a worker, in whatever language, against the rules of its protocol. */
@Command(
    name = "conformance",
    header = "Check a worker of your own against the rules of its protocol, without a cluster.",
    description = {
      "Starts the worker before two scheduler nodes that behave as badly as a network and a fail-over"
          + " can, and tells which rules of docs/worker-protocol.md it keeps. It takes about a minute."
          + " Exits with 0 if all are kept, else with 1.",
      "",
      "The worker must offer a task type that waits for as long as a parameter says, and stops when"
          + " it is told to."
    },
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {
      "  baton conformance --worker 'target/go/search-worker --scheduler {schedulers} --id {id}'",
      "  baton conformance --worker './my-worker {schedulers}' --type wait --millis forMs -o json"
    })
final class ConformanceCommand implements Callable<Integer> {
  private static final int NAME_WIDTH = 32;

  private final Context context;

  @Option(
      names = "--worker",
      required = true,
      paramLabel = "COMMAND",
      description =
          "starts the worker, by sh; {schedulers} in it becomes the address of a node, {id} the"
              + " worker's id")
  private String command = "";

  @Option(
      names = "--type",
      paramLabel = "TYPE",
      defaultValue = "sleep",
      description = "the task type that waits (default sleep)")
  private String type = "";

  @Option(
      names = "--millis",
      paramLabel = "NAME",
      defaultValue = "ms",
      description = "its parameter that says how long, in ms (default ms)")
  private String millis = "";

  @Mixin private final Common common = new Common();

  ConformanceCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path log = Files.createTempFile("baton-conformance-", ".log");
    List<Verdict> verdicts = new ArrayList<>();
    Conformance.judge(
        new Conformance.Subject(command, "conformance-1", type, millis, log),
        verdict -> {
          verdicts.add(verdict);
          if (!common.isJson()) {
            print(verdict);
          }
        });
    long broken = verdicts.stream().filter(verdict -> verdict.evidence() != null).count();
    int unseen = Rule.values().length - verdicts.size();
    if (!common.printed(context, json(verdicts, log))) {
      context
          .terminal()
          .println(
              (verdicts.size() - broken)
                  + " rules kept, "
                  + broken
                  + " broken"
                  + (unseen == 0 ? "" : ", " + unseen + " not looked at for want of these"));
      context.terminal().remark("What the worker printed stands in " + log);
    }
    return (broken == 0 && unseen == 0 ? ExitCode.OK : ExitCode.FAILED).number();
  }

  private void print(Verdict verdict) {
    String name = "%-" + NAME_WIDTH + "s";
    boolean kept = verdict.evidence() == null;
    context
        .terminal()
        .println(
            context.terminal().style(kept ? Style.GREEN : Style.RED, kept ? "kept    " : "broken  ")
                + name.formatted(name(verdict.rule()))
                + verdict.rule().text());
    if (!kept) {
      context.terminal().println("        " + String.valueOf(verdict.evidence()).strip());
    }
  }

  private static String name(Rule rule) {
    return rule.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static ObjectNode json(List<Verdict> verdicts, Path log) {
    ObjectNode json = Json.object();
    ArrayNode rules = json.putArray("rules");
    for (Rule rule : Rule.values()) {
      ObjectNode each = rules.addObject();
      each.put("rule", name(rule));
      each.put("text", rule.text());
      verdicts.stream()
          .filter(verdict -> verdict.rule() == rule)
          .findFirst()
          .ifPresentOrElse(
              verdict ->
                  each.put("verdict", verdict.evidence() == null ? "kept" : "broken")
                      .put("evidence", verdict.evidence()),
              () -> each.put("verdict", "unknown").putNull("evidence"));
    }
    json.put("log", log.toString());
    return json;
  }
}
