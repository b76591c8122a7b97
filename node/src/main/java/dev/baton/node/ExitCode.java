package dev.baton.node;

/** How a program of Baton ends: the one table of exit codes, for the nodes and the user's CLI. */
public enum ExitCode {
  /** Done, or stopped as asked. */
  OK(0),
  /** A run, or a check such as that of the demo, ended badly. */
  FAILED(1),
  /** A wrong command line, or input that is refused, such as an invalid workflow file. */
  USAGE(2),
  /** Another live process holds the id. */
  ID_IN_USE(3),
  /** etcd or the cluster did not answer in time. */
  UNREACHABLE(4),
  /** An address to listen on is taken, or not ours. */
  PORT_IN_USE(5),
  /** A setting is unknown, missing, or impossible. */
  CONFIGURATION(6),
  /** The cluster refused the request; the sentence says why. */
  REFUSED(7),
  /** A program that is needed is not installed: a JDK, Maven, etcd. */
  NOT_INSTALLED(8),
  /** A fault of Baton. */
  INTERNAL(70),
  /** Ended by Ctrl-C while it waited for something that goes on without it. */
  INTERRUPTED(130);

  private final int number;

  ExitCode(int number) {
    this.number = number;
  }

  public int number() {
    return number;
  }
}
