package dev.baton.cli.conformance;

import dev.baton.proto.v1.SchedulerAddress;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Holds one worker against all rules. */
public final class Conformance {
  private static final int END_SECONDS = 5;

  private Conformance() {}

  /**
   * How the worker is started, and what it is asked to run.
   *
   * @param command for {@code sh}; {@code {schedulers}} and {@code {id}} in it are replaced
   * @param id the worker's
   * @param type a task type that waits for as long as it is told
   * @param millis the parameter of it that says how long, in ms
   * @param log where its output goes
   */
  public record Subject(String command, String id, String type, String millis, Path log) {}

  /**
   * Starts the worker and looks at one rule after the other; nothing of it is left afterwards.
   *
   * @param listener told of each rule once it is judged; rules that could not be looked at are not
   *     told
   */
  public static void judge(Subject subject, Consumer<Verdict> listener)
      throws IOException, InterruptedException {
    Book book = new Book();
    ProbeNode.Lease lease = new ProbeNode.Lease();
    List<SchedulerAddress> addresses = new ArrayList<>();
    try (ProbeNode one = new ProbeNode("a", book, lease, () -> addresses);
        ProbeNode two = new ProbeNode("b", book, lease, () -> addresses)) {
      for (ProbeNode node : List.of(one, two)) {
        addresses.add(
            SchedulerAddress.newBuilder().setNodeId(node.id()).setAddress(node.address()).build());
      }
      Process worker = start(subject, one.address());
      var unused = worker.onExit().thenRun(book::ended);
      try {
        new Checks(
                book, lease, List.of(one, two), worker, subject.type(), subject.millis(), listener)
            .run();
      } finally {
        end(worker);
      }
    }
  }

  /** It is told of one node and must hear of the other. */
  private static Process start(Subject subject, String scheduler) throws IOException {
    String command =
        subject.command().replace("{schedulers}", scheduler).replace("{id}", subject.id());
    return new ProcessBuilder("sh", "-c", command)
        .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
        .redirectErrorStream(true)
        .redirectOutput(subject.log().toFile())
        .start();
  }

  private static void end(Process worker) throws InterruptedException {
    List<ProcessHandle> all = worker.descendants().toList();
    all.forEach(ProcessHandle::destroyForcibly);
    worker.destroyForcibly().waitFor(END_SECONDS, TimeUnit.SECONDS);
  }
}
