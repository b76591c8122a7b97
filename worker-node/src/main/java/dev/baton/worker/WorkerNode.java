package dev.baton.worker;

import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import dev.baton.node.Logs;
import dev.baton.node.NodeProcess;
import dev.baton.worker.builtin.BuiltIns;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The worker as a process, with the built-in handlers: {@code baton worker --config FILE}.
 *
 * <p>SIGTERM drains it, and so does {@code baton worker drain}; it ends with 0. It ends with 3 if
 * another live worker has its id, 4 if etcd does not answer, 5 if its port is taken, 6 if a setting
 * is wrong; see {@link ExitCode}.
 */
public final class WorkerNode {
  private static final Logger log = LoggerFactory.getLogger(WorkerNode.class);

  private WorkerNode() {}

  public static void main(String[] args) {
    NodeProcess.main("worker", WorkerSettings.class, args, WorkerNode::start);
  }

  private static void start(WorkerSettings settings, NodeProcess process)
      throws InterruptedException {
    Logs.start(settings.log(), Map.of("node", settings.id()));
    settings.listen().warning().ifPresent(log::warn);
    WorkerBuilder builder =
        Worker.builder(settings.id())
            .namespace(settings.namespace())
            .etcd(settings.etcd().config())
            .etcdStartTimeout(settings.etcd().startTimeout())
            .listen(settings.listen())
            .slots(settings.slots())
            .drainLimit(settings.drainLimit())
            .onRefused(reason -> process.stop(reason.code(), reason.sentence()))
            .onDrained(() ->
                process.stop(
                    ExitCode.OK,
                    "drained, as an operator asked; 'baton worker uncordon "
                        + settings.id()
                        + "' takes it into service again"));
    settings.labels().forEach(builder::label);
    if (settings.trace().file() != null) {
      builder.traceFile(settings.trace().file());
    }
    settings.types().forEach(type -> offer(builder, type));
    Worker worker = builder.start();
    process.closeWithin(worker.closeBound());
    process.closeLater("worker", worker);
    log.info(
        "worker {} started; HTTP port {}, etcd {}",
        settings.id(),
        worker.httpAddress(),
        settings.etcd().endpoints());
  }

  private static void offer(WorkerBuilder builder, String type) {
    if (type.equals(BuiltIns.SHELL)) {
      try {
        builder.shell();
        warnIfFirstProcess();
      } catch (IllegalStateException e) {
        throw new ExitException(ExitCode.NOT_INSTALLED, String.valueOf(e.getMessage()), e);
      }
    } else {
      TaskHandler handler = BuiltIns.harmless().get(type);
      if (handler != null) {
        builder.handler(type, handler);
      }
    }
  }

  /** A JVM does not collect the dead whose parent it becomes. */
  private static void warnIfFirstProcess() {
    if (ProcessHandle.current().pid() == 1) {
      log.warn(
          "this worker is process 1 here: what shell commands leave behind is killed, but stays as"
              + " zombies until the worker ends. Start it below an init, for example with 'docker"
              + " run --init'");
    }
  }
}
