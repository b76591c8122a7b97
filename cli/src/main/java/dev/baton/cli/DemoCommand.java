package dev.baton.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.baton.cli.cluster.CleanEnd;
import dev.baton.cli.cluster.CleanEnd.Work;
import dev.baton.cli.cluster.ClusterFolder;
import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.cli.cluster.EtcdProgram;
import dev.baton.cli.cluster.LeaderKill;
import dev.baton.cli.cluster.LocalCluster;
import dev.baton.cli.cluster.LocalCluster.Size;
import dev.baton.cli.demo.ExpectedReport;
import dev.baton.cli.demo.Moment;
import dev.baton.cli.program.Common;
import dev.baton.cli.program.Context;
import dev.baton.cli.program.Terminal;
import dev.baton.client.BatonClient;
import dev.baton.client.Endpoint;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.proto.v1.GetOutputRequest;
import dev.baton.proto.v1.GetRunRequest;
import dev.baton.proto.v1.Run;
import dev.baton.proto.v1.RunState;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.proto.v1.Task;
import dev.baton.proto.v1.WatchRunResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows that the death of the leader costs nothing. */
@Command(
    name = "demo",
    header = "See a run survive the death of the leader.",
    description =
        "Starts a cluster, runs the text pipeline on real texts, kills the leader when one task has"
            + " ended, two run and five wait; compares the result with one computed without a"
            + " cluster, and stops everything. Exits with 1 if the moment did not come, if a task"
            + " was started again, or if the result differs.",
    sortOptions = false,
    footerHeading = "%nExamples:%n",
    footer = {"  baton demo", "  baton demo --texts my/texts     one.txt to six.txt"})
final class DemoCommand implements Callable<Integer> {
  private static final Duration GRACE = Duration.ofSeconds(10);
  private static final Duration CLEAN_UP = Duration.ofSeconds(45);
  private static final int TOP = 20;

  /** Few slots, so that work waits while other work runs. */
  private static final int SLOTS = 2;

  private final Context context;

  @Option(
      names = "--texts",
      paramLabel = "FOLDER",
      description = "folder with one.txt to six.txt (default: those of the examples)")
  private @Nullable Path texts;

  @Option(
      names = "--cluster",
      paramLabel = "NAME",
      defaultValue = "demo",
      description = "name of the cluster that is made and deleted (default demo)")
  private String cluster = "demo";

  @Mixin private final Common common = new Common();

  DemoCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path examples =
        Path.of(context.environment().getOrDefault("BATON_HOME", "."), "examples").toAbsolutePath();
    Path folder =
        texts == null ? examples.resolve("texts") : context.resolve(texts).toAbsolutePath();
    String definition = InputFile.read(context, examples.resolve("text-pipeline.yaml").toString());
    JsonNode expected = ExpectedReport.of(files(folder), TOP);
    EtcdProgram.ensure(context.environment(), context.terminal()::remark);
    ClusterFolder clusterFolder =
        ClusterFolder.of(context.environment(), context.directory(), cluster);
    LocalCluster local =
        new LocalCluster(
            clusterFolder, context.directory(), context.environment(), context.terminal()::remark);
    Work<Boolean, IOException> show =
        () -> {
          local.down(GRACE, true);
          boolean good = false;
          try {
            List<Endpoint> endpoints =
                local.up(new Size(3, 2, 3, SLOTS, false)).endpoints().stream()
                    .map(Endpoint::parse)
                    .toList();
            try (BatonClient client = BatonClient.connect(endpoints)) {
              good = show(client, clusterFolder, definition, folder, expected);
            }
          } finally {
            // Of a demonstration that failed the logs are worth a look.
            local.down(GRACE, good);
          }
          return good;
        };
    return (CleanEnd.run(CLEAN_UP, context.terminal()::remark, show)
            ? ExitCode.OK
            : ExitCode.FAILED)
        .number();
  }

  private static List<Path> files(Path folder) {
    return Stream.of("one", "two", "three", "four", "five", "six")
        .map(name -> folder.resolve(name + ".txt"))
        .peek(file -> {
          if (!Files.isReadable(file)) {
            throw new ExitException(
                ExitCode.USAGE,
                "the demonstration needs the text " + file + ", which is not there");
          }
        })
        .toList();
  }

  private boolean show(
      BatonClient client,
      ClusterFolder clusterFolder,
      String definition,
      Path folder,
      JsonNode expected)
      throws IOException {
    String runId =
        client
            .submit(
                SubmitRunRequest.newBuilder()
                    .setDefinition(definition)
                    .putParams("folder", Json.value(folder.toString()))
                    .putParams("limit", Integer.toString(TOP))
                    .build())
            .getRunId();
    AtomicReference<@Nullable CompletableFuture<LeaderKill>> killing = new AtomicReference<>();
    try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
      Killer killer =
          new Killer(
              common.isJson() ? WatchView.SILENT : new TextWatch(context.terminal()),
              () ->
                  killing.set(
                      CompletableFuture.supplyAsync(
                          () -> LeaderKill.run(clusterFolder, Signal.KILL), executor)));
      new Follower(context).follow(client, runId, killer);
    }
    CompletableFuture<LeaderKill> kill = killing.get();
    Run run = client.get(GetRunRequest.newBuilder().setRunId(runId).build()).getRun();
    List<String> faults = new ArrayList<>();
    if (run.getState() != RunState.RUN_SUCCESS) {
      faults.add("the run ended as " + Json.state(run.getState()) + ": " + run.getReason());
    }
    if (kill == null) {
      faults.add("the moment to kill the leader never came: the work was over too soon");
    }
    for (Task task : run.getTasksList()) {
      if (task.getAttemptsCount() != 1) {
        faults.add("task " + task.getTaskId() + " had " + task.getAttemptsCount() + " attempts");
      }
    }
    if (run.getState() == RunState.RUN_SUCCESS) {
      compare(client, runId, expected, faults);
    }
    return report(kill, run, faults);
  }

  private static void compare(
      BatonClient client, String runId, JsonNode expected, List<String> faults) throws IOException {
    JsonNode actual =
        new JsonMapper()
            .readTree(
                client
                    .getOutput(
                        GetOutputRequest.newBuilder().setRunId(runId).setTaskId("report").build())
                    .getOutputJson());
    for (String field : List.of("words", "top")) {
      // As texts: a number that was read is of another type than one that was counted.
      if (!actual.path(field).toString().equals(expected.path(field).toString())) {
        faults.add(
            "the report's "
                + field
                + " are "
                + actual.path(field)
                + ", but without a cluster "
                + expected.path(field));
      }
    }
  }

  private boolean report(
      @Nullable CompletableFuture<LeaderKill> killing, Run run, List<String> faults) {
    Terminal terminal = context.terminal();
    LeaderKill kill = null;
    try {
      kill = killing == null ? null : killing.join();
    } catch (CompletionException e) {
      faults.add(String.valueOf(e.getCause() == null ? e : e.getCause().getMessage()));
    }
    var json = Json.object();
    json.put("runId", run.getRunId());
    json.put("state", Json.state(run.getState()));
    json.put("killed", kill == null ? null : kill.killed());
    json.put("leader", kill == null ? null : kill.leader());
    json.put("term", kill == null ? null : kill.term());
    json.put("tookMs", kill == null ? null : kill.tookMillis());
    var array = json.putArray("faults");
    faults.forEach(array::add);
    if (!common.printed(context, json)) {
      if (kill != null) {
        terminal.println(
            kill.killed()
                + " was killed (SIGKILL, term "
                + kill.oldTerm()
                + "); "
                + kill.leader()
                + " took over in term "
                + kill.term()
                + ", "
                + Times.duration(kill.tookMillis())
                + " later");
      }
      if (faults.isEmpty()) {
        terminal.println(
            "All "
                + run.getTasksCount()
                + " tasks ran once, and the result is the one computed"
                + " without a cluster.");
      }
    }
    faults.forEach(fault -> terminal.remark("baton demo: " + fault));
    return faults.isEmpty();
  }

  /** Shows what a view shows, and acts once at the moment. */
  private static final class Killer implements WatchView {
    private final WatchView view;
    private final Runnable act;
    private boolean acted;

    Killer(WatchView view, Runnable act) {
      this.view = view;
      this.act = act;
    }

    @Override
    public void onChange(WatchRunResponse change) {
      if (!acted && Moment.isNow(change.getRun().getCounts())) {
        acted = true;
        act.run();
      }
      view.onChange(change);
    }

    @Override
    public void onLeader(String nodeId, long term) {
      view.onLeader(nodeId, term);
    }

    @Override
    public void onReopened(Endpoint endpoint, String reason) {
      view.onReopened(endpoint, reason);
    }

    @Override
    public void tick() {
      view.tick();
    }

    @Override
    public void end(Run run) {
      view.end(run);
    }

    @Override
    public void interrupt() {
      view.interrupt();
    }
  }
}
