package dev.baton.scheduler.journal;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.proto.journal.v1.JournalEntry;
import dev.baton.scheduler.engine.Event;
import java.util.ArrayList;
import java.util.List;

/**
 * One journal entry: events that became durable together.
 *
 * @param term of the leader that wrote it
 * @param seq without gaps, from 1
 * @param time journal time at which it was opened, ms
 * @param bytes of its stored form
 */
public record Entry(long term, long seq, long time, List<Stamped> events, int bytes) {
  public Entry {
    events = List.copyOf(events);
  }

  /** Journal time of its last event, ms. */
  long lastAt() {
    return events.isEmpty() ? time : events.getLast().at();
  }

  /** An event and its journal time, ms. */
  public record Stamped(Event event, long at) {}

  /**
   * Throws IllegalStateException if the bytes are no entry, or hold an event of a kind that is not
   * known here.
   */
  static Entry decode(ByteString bytes) {
    try {
      JournalEntry proto = JournalEntry.parseFrom(bytes);
      List<Stamped> events = new ArrayList<>(proto.getEventsCount());
      for (var event : proto.getEventsList()) {
        events.add(
            new Stamped(
                EventCodec.decode(event), proto.getTime() + Integer.toUnsignedLong(event.getAt())));
      }
      return new Entry(proto.getTerm(), proto.getSeq(), proto.getTime(), events, bytes.size());
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("Expected a journal entry, but the bytes are none", e);
    }
  }
}
