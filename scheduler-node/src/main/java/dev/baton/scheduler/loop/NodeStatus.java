package dev.baton.scheduler.loop;

import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Fleet;
import dev.baton.scheduler.engine.Waits;
import java.time.Duration;
import java.util.Map;

/**
 * How a node stands, for its health pages and its metrics.
 *
 * @param seq the entry that its state stands at
 * @param lag for how long it has been behind the newest head
 * @param silence for how long nothing was heard of etcd
 */
public record NodeStatus(
    Role role, long term, long seq, Duration lag, Duration silence, Load load) {
  /**
   * How much there is to do, as this node sees it; workers and slots are known to the leader. Of a
   * worker that is cordoned only the slots in use count.
   */
  public record Load(
      int workers,
      int slots,
      int slotsUsed,
      int ready,
      int delayed,
      int liveTasks,
      int liveRuns,
      int retained,
      Map<Waits.Kind, Integer> waiting) {
    static final Load NONE = new Load(0, 0, 0, 0, 0, 0, 0, 0, Map.of());

    /**
     * The load of a state.
     *
     * @param leads whether the presence of workers is known
     * @param waiting how many tasks wait for each reason, of some moment ago
     * @param now journal time, ms
     */
    static Load of(
        ClusterState state,
        Fleet fleet,
        boolean leads,
        Map<Waits.Kind, Integer> waiting,
        long now) {
      int healthy = 0;
      int slots = 0;
      int used = 0;
      for (Fleet.Registration worker : fleet.registrations()) {
        if (leads && fleet.standing(worker.life(), now) == Fleet.Standing.CONNECTED) {
          healthy++;
          int busy = fleet.used(worker.life(), state.workers());
          slots += state.cordons().has(worker.life().workerId()) ? busy : worker.slots();
          used += busy;
        }
      }
      return new Load(
          healthy,
          slots,
          used,
          state.ready().size(),
          state.ready().delayedSize(),
          state.liveTasks(),
          state.runs().size(),
          state.retained().size(),
          waiting);
    }
  }
}
