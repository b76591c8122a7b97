package dev.baton.scheduler.journal;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Keys;
import dev.baton.coordination.Txn.Op;
import dev.baton.proto.journal.v1.Head;
import dev.baton.proto.journal.v1.HistoryEntry;
import dev.baton.proto.journal.v1.HistoryRun;
import dev.baton.proto.journal.v1.JournalEntry;
import dev.baton.scheduler.engine.Event;
import java.util.ArrayList;
import java.util.List;

/**
 * The entry that gathers what the leader decides until it leaves: its events, and the keys that are
 * written in the same transaction. Whoever adds has asked before whether there is room.
 */
public final class OpenEntry {
  private static final int ENTRY_HEADER_BYTES = 64;
  private static final int RECORD_HEADER_BYTES = 8;

  private final Keys keys;
  private final long term;
  private final long seq;
  private final long time;
  private final JournalEntry.Builder entry;
  private final HistoryEntry.Builder history = HistoryEntry.newBuilder();
  private final List<Op> beside = new ArrayList<>();
  private int entryBytes = ENTRY_HEADER_BYTES;
  // The history's key is there from the start: who retires a run asks for its record's bytes only.
  private int besideBytes = JournalLimits.KEY_BYTES;
  private long lastAt;

  /**
   * @param time journal time at which it is opened, ms
   */
  public OpenEntry(Keys keys, long term, long seq, long time) {
    this.keys = keys;
    this.term = term;
    this.seq = seq;
    this.time = time;
    this.lastAt = time;
    this.entry = JournalEntry.newBuilder().setTerm(term).setSeq(seq).setTime(time);
  }

  public long seq() {
    return seq;
  }

  public boolean isEmpty() {
    return entry.getEventsCount() == 0;
  }

  public int bytes() {
    return entryBytes;
  }

  /** The number that the next event gets, if it creates something. */
  public long nextNumber() {
    return seq << 16 | entry.getEventsCount();
  }

  /** Whether so many more bytes fit, and so many in the value of another key. */
  public boolean hasRoom(int eventBytes, int valueBytes) {
    return entryBytes + eventBytes <= JournalLimits.ENTRY_BYTES
        && entry.getEventsCount() < JournalLimits.EVENTS
        && (valueBytes == 0 || hasRoomBeside(valueBytes));
  }

  private boolean hasRoomBeside(int valueBytes) {
    return besideBytes + valueBytes + JournalLimits.KEY_BYTES <= JournalLimits.BESIDE_BYTES
        && beside.size() < JournalLimits.KEYS_BESIDE;
  }

  /**
   * Adds an event; its time never lies before that of the one before. Returns the time it was
   * given.
   */
  public long add(Event event, long now) {
    lastAt = Math.max(lastAt, now);
    var encoded = EventCodec.encode(event, lastAt - time);
    entry.addEvents(encoded);
    entryBytes += encoded.getSerializedSize() + 4;
    return lastAt;
  }

  /** Writes the record of a run that is retired by this entry. */
  public void addHistory(HistoryRun run) {
    history.addRuns(run);
    besideBytes += run.getSerializedSize() + RECORD_HEADER_BYTES;
  }

  /** Writes another key with this entry. */
  public void addPut(ByteString key, ByteString value) {
    beside.add(new Op.Put(key, value, 0));
    besideBytes += key.size() + value.size();
  }

  /** The entry's bytes. */
  public ByteString encodeEntry() {
    return entry.build().toByteString();
  }

  /** The head's bytes once this entry is the last. */
  public ByteString encodeHead() {
    return head(term, seq, lastAt);
  }

  /** A head. */
  public static ByteString head(long term, long seq, long time) {
    return Head.newBuilder().setTerm(term).setSeq(seq).setTime(time).build().toByteString();
  }

  /** What is written beside entry and head. */
  public List<Op> encodeBeside() {
    List<Op> all = new ArrayList<>(beside);
    if (history.getRunsCount() > 0) {
      all.add(new Op.Put(keys.history(seq), history.build().toByteString(), 0));
    }
    return all;
  }

  /** Journal time of its last event, ms. */
  public long lastAt() {
    return lastAt;
  }

  public int events() {
    return entry.getEventsCount();
  }
}
