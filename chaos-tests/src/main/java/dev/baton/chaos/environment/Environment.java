package dev.baton.chaos.environment;

import dev.baton.cli.cluster.Daemon.Signal;
import dev.baton.client.Endpoint;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A cluster of real processes and the ways to hurt it. Used by one thread; what it changes about
 * processes it notes in the history itself, right after it was done.
 *
 * <p>Closing heals everything and ends every process that it started, whatever happened before.
 */
public interface Environment extends AutoCloseable {
  /** As users choose it. */
  String name();

  /** Why it can't do something here; empty: it can. */
  Optional<String> lacks(Ability ability);

  /** Where its files are. */
  RunFolder files();

  /** Starts the cluster and returns once every process is ready. */
  void start(Layout layout);

  /** All members, dead ones as well. */
  List<Part> parts();

  /** Schedulers' addresses for clients; no fault is on the way to them. */
  List<Endpoint> endpoints();

  /** etcd's addresses for the suite's own watch; no fault is on the way to them. */
  List<String> etcdEndpoints();

  /** Whether a member's process is dead. */
  boolean isDown(String part);

  /**
   * Whether connections to a dead member are refused, as by a machine whose process is gone; else
   * its address is silent, as if the machine was gone.
   */
  boolean refusesForTheDead();

  /** Whether a member of etcd leads the others, by its own word. */
  boolean isEtcdLeader(String member);

  void signal(String part, Signal signal);

  /** Starts a member that is down again, on its data and addresses, and does not wait for it. */
  void launch(String part);

  /** Waits until a member says that it is ready; throws if it is not within the bound. */
  void awaitReady(String part);

  /** Waits until a member that was told to end is dead; kills it past the bound. */
  void awaitDown(String part, Duration bound);

  /** Impairs what one member sends to another, whoever opened the connection. */
  void impair(String from, String to, Impairment impairment);

  /** Lifts all impairments. */
  void restoreNetwork();

  /** Leaves no room on the disk of a member of etcd. */
  void fillDisk(String member);

  void freeDisk(String member);

  /** Sets the wall clock of a scheduler wrong by so much; zero: right. */
  void setClock(String scheduler, Duration by);

  /** Adds workers and returns once they are ready. */
  List<String> addWorkers(int count);

  /** Ends every process; only then are the traces whole. */
  void stop();

  @Override
  void close();
}
