package dev.baton.worker.protocol;

import dev.baton.proto.v1.TaskAssignment;
import dev.baton.proto.v1.WorkerMessage;

/** What a {@link WorkerProtocol} does to the world: streams, attempts, counters. */
public interface Outputs {
  /** The node's stream takes a message without piling it up. */
  boolean ready(String node);

  void send(String node, WorkerMessage message);

  /** Ends the node's stream, which is then opened again; {@code streamClosed} follows. */
  void close(String node, String reason);

  /** Of the worker's registration; 0: there is none, or it may have ended meanwhile. */
  long lease();

  /** Starts a handler. {@code finished} follows, once. */
  void start(TaskAssignment assignment);

  /** Tells a handler to stop. Its {@code finished} says how it ended. */
  void cancel(AttemptId attempt, String reason);

  /** An operator wants this process to end once what runs has ended; said once. */
  void drain();

  /** What a node said was not listened to. */
  void dropped(String node, Drop why);

  /** Why something that came in was dropped. */
  enum Drop {
    /** It speaks for another cluster, or for this one before it was restored from a backup. */
    GENERATION,
    /** It is meant for an older process life of this worker. */
    INCARNATION,
    /** It comes from a leader that has been replaced. */
    TERM,
    /** The assignment is known already: running, ended, returned or cancelled. */
    KNOWN_ASSIGNMENT,
    /** The assignment was sent when the worker's lease was another, or may have ended. */
    REGISTRATION,
    /** Too many returns wait for their acknowledgement. */
    TOO_MANY_RETURNS
  }
}
