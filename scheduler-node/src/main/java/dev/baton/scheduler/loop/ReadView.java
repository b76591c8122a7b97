package dev.baton.scheduler.loop;

import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Fleet;
import dev.baton.scheduler.model.AttemptName;
import java.time.Duration;
import java.util.Map;

/**
 * What a read may look at, on the loop's thread and not longer than the call.
 *
 * @param seq the entry that the state stands at
 * @param now journal time, ms
 * @param silence for how long nothing was heard of etcd
 * @param progress what handlers said last; the leader's alone
 */
public record ReadView(
    ClusterState state,
    Fleet fleet,
    long seq,
    Role role,
    long now,
    Duration silence,
    Map<AttemptName, WorkerReport.Progress> progress) {}
