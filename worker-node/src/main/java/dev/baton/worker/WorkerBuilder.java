package dev.baton.worker;

import dev.baton.coordination.EtcdConfig;
import dev.baton.node.ExitException;
import dev.baton.node.ListenSettings;
import dev.baton.worker.builtin.BuiltIns;
import dev.baton.worker.builtin.ShellHandler;
import dev.baton.worker.protocol.WorkerProtocol;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Describes a {@link Worker} and starts it. Not thread-safe. */
public final class WorkerBuilder {
  /** What a worker's id may be. */
  static final Pattern ID = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  private static final Pattern TYPE = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  final String id;
  final Map<String, TaskHandler> handlers = new TreeMap<>();
  final Map<String, String> labels = new TreeMap<>();
  String namespace = "baton";
  ListenSettings listen = new ListenSettings(0, 0, null, null);
  Duration etcdStartTimeout = Duration.ofSeconds(30);
  Duration drainLimit = Duration.ofSeconds(30);
  int slots = 16;
  @Nullable Path traceFile;
  @Nullable Consumer<ExitException> onRefused;
  @Nullable Runnable onDrained;
  private @Nullable EtcdConfig etcd;

  WorkerBuilder(String id) {
    this.id = require(ID, id, "a worker's id");
  }

  /** Members of the cluster's etcd, each {@code host:port}. */
  public WorkerBuilder etcd(String... endpoints) {
    return etcd(EtcdConfig.of(List.of(endpoints)));
  }

  /** How to reach the cluster's etcd, with user or TLS. */
  public WorkerBuilder etcd(EtcdConfig config) {
    this.etcd = config;
    return this;
  }

  /** How long {@link #start} waits for etcd; 30 s if not given. */
  public WorkerBuilder etcdStartTimeout(Duration timeout) {
    this.etcdStartTimeout = timeout;
    return this;
  }

  /** The cluster's namespace in etcd; {@code baton} if not given. */
  public WorkerBuilder namespace(String name) {
    this.namespace = name;
    return this;
  }

  /** How many attempts run at once; 16 if not given, at most 4096. */
  public WorkerBuilder slots(int count) {
    if (count < 1 || count > WorkerProtocol.MAX_SLOTS) {
      throw new IllegalArgumentException(
          "Expected 1 to " + WorkerProtocol.MAX_SLOTS + " slots, but got " + count + ".");
    }
    this.slots = count;
    return this;
  }

  /** Runs the tasks of a type. */
  public WorkerBuilder handler(String type, TaskHandler handler) {
    if (handlers.putIfAbsent(require(TYPE, type, "a task type"), handler) != null) {
      throw new IllegalArgumentException("The task type '" + type + "' has a handler already.");
    }
    return this;
  }

  /** Adds the built-in handlers, without {@code shell}. */
  public WorkerBuilder builtIns() {
    BuiltIns.harmless().forEach(this::handler);
    return this;
  }

  /**
   * Adds the built-in handler {@code shell}: whoever can submit a workflow can then run any command
   * as the user of this process.
   */
  public WorkerBuilder shell() {
    return handler(BuiltIns.SHELL, new ShellHandler());
  }

  /** Something to know the worker by; shown to people. */
  public WorkerBuilder label(String name, String value) {
    labels.put(name, value);
    return this;
  }

  /** Where the HTTP port is; any free port of 127.0.0.1 if not given. */
  public WorkerBuilder listen(ListenSettings settings) {
    this.listen = settings;
    return this;
  }

  /** How long attempts may go on once the worker is asked to end; 30 s if not given. */
  public WorkerBuilder drainLimit(Duration limit) {
    this.drainLimit = limit;
    return this;
  }

  /** A file to which assignments, starts and ends are appended; see the module's README. */
  public WorkerBuilder traceFile(Path file) {
    this.traceFile = file;
    return this;
  }

  /** Called when another live worker has this id; without it, that is logged as an error. */
  public WorkerBuilder onRefused(Consumer<ExitException> listener) {
    this.onRefused = listener;
    return this;
  }

  /**
   * Called when an operator has drained the worker ({@code baton worker drain}) and nothing runs
   * any more; without it the worker closes itself.
   */
  public WorkerBuilder onDrained(Runnable listener) {
    this.onDrained = listener;
    return this;
  }

  /**
   * Starts the worker: opens its HTTP port and waits for etcd. It registers and finds the
   * schedulers in the background.
   *
   * @throws ExitException with one sentence, if the port cannot be opened or etcd does not answer
   */
  public Worker start() throws InterruptedException {
    if (handlers.isEmpty()) {
      throw new IllegalStateException(
          "Expected at least one handler, but there is none: call handler() or builtIns().");
    }
    return new Worker(this);
  }

  EtcdConfig etcd() {
    if (etcd == null) {
      throw new IllegalStateException("Expected endpoints of etcd, but none are given.");
    }
    return etcd;
  }

  String version() {
    String version = Worker.class.getPackage().getImplementationVersion();
    return version == null ? "unpackaged" : version;
  }

  private static String require(Pattern pattern, String text, String what) {
    if (!pattern.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "Expected "
              + what
              + " of 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and minus, but got '"
              + text
              + "'.");
    }
    return text;
  }
}
