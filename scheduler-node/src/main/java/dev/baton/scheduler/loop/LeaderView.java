package dev.baton.scheduler.loop;

import dev.baton.proto.v1.LeaderRecord;
import org.jspecify.annotations.Nullable;

/**
 * Who leads, as far as this node knows.
 *
 * @param leader null: nobody
 * @param isSelf this node leads, and has taken over
 */
public record LeaderView(@Nullable LeaderRecord leader, long term, boolean isSelf) {}
