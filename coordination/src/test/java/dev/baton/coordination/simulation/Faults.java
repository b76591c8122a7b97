package dev.baton.coordination.simulation;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;

/**
 * How unkind a simulated etcd is; until told otherwise it is kind.
 *
 * <p>Probabilities are from 0 to 1, of each request, answer or batch of events. What a cut or a
 * hanging member holds up is lost or comes later, by chance.
 */
public final class Faults {
  private static final Duration SHORTEST_DELAY = Duration.ofNanos(200_000);
  private static final Duration LONGEST_DELAY = Duration.ofMillis(2);

  private final World world;
  private final SimulatedEtcd etcd;
  private final Map<String, Link> links = new LinkedHashMap<>();

  private long shortestDelayNanos = SHORTEST_DELAY.toNanos();
  private long longestDelayNanos = LONGEST_DELAY.toNanos();
  private double requestLoss;
  private double answerLoss;
  private double lateness;
  private long latestNanos;
  private double staleness;
  private long stalestNanos;
  private double refusal;
  private double tellingLoss;
  private double watchBreak;
  private boolean full;
  private boolean deletesForgotten;

  /** The two ways of the network between a client and etcd. */
  public enum Way {
    REQUESTS,
    ANSWERS
  }

  Faults(World world, SimulatedEtcd etcd) {
    this.world = world;
    this.etcd = etcd;
  }

  /** How long each way takes. */
  public void delay(Duration shortest, Duration longest) {
    shortestDelayNanos = shortest.toNanos();
    longestDelayNanos = Math.max(shortestDelayNanos, longest.toNanos());
  }

  /** The request never arrives. */
  public void loseRequests(double probability) {
    requestLoss = probability;
  }

  /** The request is carried out. */
  public void loseAnswers(double probability) {
    answerLoss = probability;
  }

  /** The request arrives at any time up to {@code longest} later. */
  public void applyLate(double probability, Duration longest) {
    lateness = probability;
    latestNanos = longest.toNanos();
  }

  /**
   * Transactions without operations are judged by a state that is up to so old, and the status
   * shows one.
   */
  public void answerStale(double probability, Duration longest) {
    staleness = probability;
    stalestNanos = longest.toNanos();
  }

  /** Changes are refused as too many requests. */
  public void refuse(double probability) {
    refusal = probability;
  }

  /** A watch does not tell some events, and goes on. */
  public void loseWatchEvents(double probability) {
    tellingLoss = probability;
  }

  /** A watch fails when it has events to tell. */
  public void breakWatches(double probability) {
    watchBreak = probability;
  }

  /** Nothing passes between an owner's clients and etcd. */
  public void cut(String owner) {
    cut(owner, Way.REQUESTS);
    cut(owner, Way.ANSWERS);
  }

  /** One way only. */
  public void cut(String owner, Way way) {
    link(owner).cut(way);
  }

  /** Some of what was sent meanwhile arrives now. */
  public void heal(String owner) {
    link(owner).heal();
  }

  /** A member, 0 to 2, stops, as a stopped process: it keeps its connections. */
  public void hang(int member) {
    etcd.members().hang(member);
  }

  /** Some of the requests that it got meanwhile are carried out now. */
  public void resume(int member) {
    etcd.members().resume(member);
  }

  /**
   * A member is cut off from the others, and clients still reach it: it carries out nothing, tells
   * watches nothing new, and answers what need not be agreed on as if time stood still.
   */
  public void isolate(int member) {
    etcd.members().isolate(member, etcd.revision());
  }

  public void rejoin(int member) {
    etcd.members().rejoin(member);
  }

  /** The member that all clients of this owner ask next; empty: they ask several. */
  public OptionalInt memberOf(String owner) {
    return etcd.memberOf(owner);
  }

  /**
   * etcd loses its leader: 100 ms to 4 s without service until there is another one. All leases
   * start again in full, and some watches fail.
   */
  public void electLeader() {
    etcd.members().loseLeader();
  }

  /**
   * The quota is used up: puts and grants are refused, also those of a branch that would not run.
   */
  public void noSpace(boolean isFull) {
    full = isFull;
  }

  /** Everything before the newest revision is forgotten. */
  public void compactNow() {
    etcd.compact(etcd.revision());
  }

  /**
   * A watch from exactly the revision to which etcd was compacted misses the deletes of that
   * revision, as it does on etcd 3.4.
   */
  public void forgetDeletes(boolean forgets) {
    deletesForgotten = forgets;
  }

  /** The open watches of an owner fail. */
  public void breakWatches(String owner) {
    etcd.watchesOf(owner).forEach(SimulatedWatch::breakSoon);
  }

  /** What the next watch of an owner would tell is not told, and it does not fail. */
  public void loseNextWatchEvent(String owner) {
    link(owner).loseNextTelling();
  }

  /** Kind again. What is on its way late still comes. */
  public void healAll() {
    delay(SHORTEST_DELAY, LONGEST_DELAY);
    requestLoss = 0;
    answerLoss = 0;
    lateness = 0;
    staleness = 0;
    refusal = 0;
    tellingLoss = 0;
    watchBreak = 0;
    full = false;
    deletesForgotten = false;
    for (Link link : links.values()) {
      link.loseNothing();
      link.heal();
    }
    for (int member = 0; member < Members.COUNT; member++) {
      if (etcd.members().isHanging(member)) {
        resume(member);
      }
      if (etcd.members().isIsolated(member)) {
        rejoin(member);
      }
    }
  }

  Link link(String owner) {
    return links.computeIfAbsent(owner, name -> new Link(world));
  }

  long delayNanos() {
    return shortestDelayNanos + world.random().nextLong(longestDelayNanos - shortestDelayNanos + 1);
  }

  /** Of a request. */
  long arrivalNanos() {
    return delayNanos() + (happens(lateness) ? world.random().nextLong(latestNanos + 1) : 0);
  }

  /** The revision that a member shows which is not asked to agree with the others. */
  long visibleRevision(int member) {
    long known = etcd.members().known(member, etcd.revision());
    if (!happens(staleness)) {
      return known;
    }
    long age = world.random().nextLong(stalestNanos + 1);
    return Math.min(known, etcd.store().revisionAsOf(world.nanoTime() - age));
  }

  boolean losesRequest() {
    return happens(requestLoss);
  }

  boolean losesAnswer() {
    return happens(answerLoss);
  }

  boolean refuses() {
    return happens(refusal);
  }

  boolean losesTelling() {
    return happens(tellingLoss);
  }

  boolean breaksWatch() {
    return happens(watchBreak);
  }

  boolean forgetsDeletes() {
    return deletesForgotten;
  }

  boolean isFull() {
    return full;
  }

  private boolean happens(double probability) {
    return probability > 0 && world.random().nextDouble() < probability;
  }
}
