package dev.baton.chaos.environment;

/** What an environment may be able to do to a cluster. */
public enum Ability {
  /** Kill, stop, continue and terminate single processes, and start them again. */
  SIGNALS,
  /** Cut the ways between two members, each direction alone; of etcd's not those to each other. */
  CUTS,
  /** Cut the ways between two members of etcd, each direction alone. */
  ETCD_CUTS,
  /** Delay what one member sends to another. */
  SLOWNESS,
  /** Fill the disk under one member of etcd. */
  DISK,
  /** Set the wall clock of one scheduler wrong. */
  CLOCKS,
  /** Add workers. */
  SCALE
}
