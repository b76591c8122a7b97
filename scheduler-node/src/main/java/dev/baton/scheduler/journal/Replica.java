package dev.baton.scheduler.journal;

import dev.baton.scheduler.engine.ClusterState;
import dev.baton.scheduler.engine.Definitions;
import dev.baton.scheduler.engine.Event;

/** The state at one entry of the journal. Touched by the loop's thread only. */
public final class Replica {
  private final Definitions definitions;
  private final ClusterState state;
  private long seq;
  private long term;
  private long time;
  private long journalBytes;

  Replica(long generation) {
    this.definitions = new Definitions();
    this.state = new ClusterState(generation, definitions);
  }

  public ClusterState state() {
    return state;
  }

  public Definitions definitions() {
    return definitions;
  }

  /** The last entry that is in the state. */
  public long seq() {
    return seq;
  }

  /** Its term. */
  public long term() {
    return term;
  }

  /** Journal time of its last event, ms. */
  public long time() {
    return time;
  }

  /** About how many bytes of entries lie behind the installed snapshot. */
  public long journalBytes() {
    return journalBytes;
  }

  public void addJournalBytes(int bytes) {
    journalBytes += bytes;
  }

  void restored(SnapshotCodec.Position at) {
    seq = at.seq();
    term = at.term();
    time = at.time();
  }

  /** Applies the next entry; the definitions that it adds were read before. */
  void apply(Entry entry) {
    if (entry.seq() != seq + 1 || entry.term() < term) {
      throw new IllegalStateException(
          "Expected entry "
              + (seq + 1)
              + " of term "
              + term
              + " or later, but got "
              + entry.seq()
              + " of "
              + entry.term());
    }
    begin(entry.term());
    for (Entry.Stamped stamped : entry.events()) {
      apply(stamped.event(), stamped.at());
    }
    end(entry.seq(), entry.lastAt());
    addJournalBytes(entry.bytes());
  }

  /** The leader applies events one by one, as it decides them: an entry of this term begins, */
  public void begin(long term) {
    this.term = term;
    state.enterTerm(term);
  }

  public void apply(Event event, long at) {
    state.apply(event, seq + 1, at);
    forgetCovered(event);
  }

  private void forgetCovered(Event event) {
    if (event instanceof Event.SnapshotInstalled) {
      journalBytes = 0;
    }
  }

  /** and ends. The state runs ahead of etcd by this entry until it is durable. */
  public void end(long seq, long time) {
    this.seq = seq;
    this.time = time;
  }
}
