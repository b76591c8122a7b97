package dev.baton.coordination.simulation;

import java.time.Duration;

/**
 * How unkind a simulated etcd is; until told otherwise it is kind.
 *
 * <p>Probabilities are from 0 to 1, of each call, answer or batch of events.
 */
public interface Faults {
  /** The two ways of the network between a client and etcd. */
  enum Way {
    REQUESTS,
    ANSWERS
  }

  /** How long each way takes. */
  void delay(Duration shortest, Duration longest);

  void loseRequests(double probability);

  /** The request is carried out. */
  void loseAnswers(double probability);

  /** The request arrives at any time up to {@code longest} later. */
  void applyLate(double probability, Duration longest);

  /** Transactions without operations are judged by a state that is up to so old. */
  void answerStale(double probability, Duration longest);

  /** Changes are refused as too many requests. */
  void refuse(double probability);

  void loseWatchEvents(double probability);

  void breakWatches(double probability);

  /** Nothing passes between an owner's clients and etcd. */
  void cut(String owner);

  /** One way only. */
  void cut(String owner, Way way);

  /** Some of the requests that were sent meanwhile arrive now. */
  void heal(String owner);

  /** A member stops, as a stopped process: it keeps its connections. */
  void hang(int member);

  /** Some of the requests that it got meanwhile are carried out now. */
  void resume(int member);

  /** etcd loses its leader: no service until there is another; all leases start again in full. */
  void electLeader();

  /** The quota is used up. */
  void noSpace(boolean full);

  /** Everything before the newest revision is forgotten. */
  void compactNow();

  /** The open watches of an owner fail. */
  void breakWatches(String owner);

  /** What the next watch of an owner would tell is not told, and it does not fail. */
  void loseNextWatchEvent(String owner);

  /** Kind again. What is on its way late still comes. */
  void healAll();
}
