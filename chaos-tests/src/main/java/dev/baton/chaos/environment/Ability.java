package dev.baton.chaos.environment;

/** What an environment may be able to do to a cluster. */
public enum Ability {
  /** Kill, stop, continue and terminate single processes, and start them again. */
  SIGNALS,
  /** Cut and slow the ways between two processes, each direction alone. */
  NETWORK,
  /** Fill the disk under one member of etcd. */
  DISK,
  /** Add workers. */
  SCALE
}
