package dev.baton.coordination;

import com.google.protobuf.ByteString;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Txn.Compare;
import dev.baton.coordination.Txn.Op;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Appends entries to the journal in one term, one at a time.
 *
 * <p>Every transaction compares two mod revisions: that of {@code leader} with the term (the fence)
 * and that of {@code head} with the last one that this term saw (the sequence). {@code head} is
 * written by each, and a mod revision never comes twice, so whichever copy etcd applies, however
 * late, an entry is written once or not at all. A copy without an answer is followed by the
 * identical transaction; if that is refused because {@code head} is what it would have written, the
 * earlier copy had succeeded.
 *
 * <p>Belongs to the loop's strand. After {@link Listener#onFenced}, {@link Listener#onFault} or
 * {@link Listener#onDeadline} it is over.
 */
public final class Appender {
  /** Called on the strand, never from within a call of the appender. */
  public interface Listener {
    /** The entry is durable. */
    void onDurable(long seq, long revision);

    /** The touch of {@code head} is durable. */
    void onTouched(long revision);

    /** Another leads: step down. */
    void onFenced();

    /** A bug: log, step down; a second one ends the process. */
    void onFault(String what);

    /** The outcome is unknown and the lease deadline has passed: step down. */
    void onDeadline();

    /** etcd takes no writes for now, and the entry is tried again: take no submissions. */
    void onStalled(Kind kind);

    /** etcd has taken the entry that was stalled. */
    void onResumed();
  }

  private final Etcd etcd;
  private final Strand strand;
  private final Keys keys;
  private final long term;
  private final LongSupplier leaseDeadlineNanos;
  private final Listener listener;

  private long headRevision;
  private @Nullable InsistentTxn inFlight;
  private boolean stalled;
  private boolean over;

  /**
   * An appender of one term.
   *
   * @param headRevision mod revision of {@code head} as the new leader read it; 0: there is none
   * @param leaseDeadlineNanos until when the lease is sure to hold, by the strand's clock
   */
  public Appender(
      Etcd etcd,
      Strand strand,
      Keys keys,
      long term,
      long headRevision,
      LongSupplier leaseDeadlineNanos,
      Listener listener) {
    this.etcd = etcd;
    this.strand = strand;
    this.keys = keys;
    this.term = term;
    this.headRevision = headRevision;
    this.leaseDeadlineNanos = leaseDeadlineNanos;
    this.listener = listener;
  }

  /** Whether an entry or a touch waits for its outcome. */
  public boolean isInFlight() {
    return inFlight != null;
  }

  /** Whether it appends no more. */
  public boolean isOver() {
    return over;
  }

  /** Mod revision of {@code head} after the last write of this term that is known. */
  public long headRevision() {
    return headRevision;
  }

  /**
   * Appends an entry with what is written beside it.
   *
   * @param head new value of {@code head}; no two entries may have the same one
   */
  public void append(long seq, ByteString entry, ByteString head, List<Op> beside) {
    List<Op> then = new ArrayList<>(beside.size() + 2);
    then.add(new Op.Put(keys.journal(seq), entry, 0));
    then.add(new Op.Put(keys.head(), head, 0));
    then.addAll(beside);
    Limits.check(entry.size(), beside)
        .ifPresentOrElse(
            excess -> refuse("Entry " + seq + " can't be written: " + excess),
            () -> send(then, head, "entry " + seq, revision -> listener.onDurable(seq, revision)));
  }

  /** Writes {@code head} again to show life; takes the place in flight. */
  public void touch(ByteString head) {
    send(List.of(new Op.Put(keys.head(), head, 0)), head, "a touch", listener::onTouched);
  }

  /** The listener is not called any more. What is in flight may be applied yet. */
  public void close() {
    over = true;
    if (inFlight != null) {
      inFlight.cancel();
      inFlight = null;
    }
  }

  private void send(List<Op> then, ByteString head, String what, LongConsumer onDurable) {
    if (over || inFlight != null) {
      throw new IllegalStateException(
          "Expected an appender that is free, but it is " + (over ? "over." : "in flight."));
    }
    Txn txn =
        new Txn(
            List.of(
                new Compare.ModRevision(keys.leader(), term),
                new Compare.ModRevision(keys.head(), headRevision)),
            then,
            List.of(new Op.Get(keys.leader()), new Op.Get(keys.head())));
    inFlight =
        new InsistentTxn(
            etcd,
            strand,
            leaseDeadlineNanos,
            txn,
            new InsistentTxn.Listener() {
              @Override
              public void onStalled(Kind kind) {
                stalled = true;
                listener.onStalled(kind);
              }

              @Override
              public void onReply(TxnReply reply) {
                judge(reply, head, what, onDurable);
              }

              @Override
              public void onRefused(EtcdException refusal) {
                end(() -> listener.onFault("etcd refused " + what + ": " + refusal.getMessage()));
              }

              @Override
              public void onDeadline() {
                end(listener::onDeadline);
              }
            });
    // A deadline that has passed already is told after this call, like everything else.
    strand.execute(inFlight::start);
  }

  private void judge(TxnReply reply, ByteString head, String what, LongConsumer onDurable) {
    if (reply.succeeded()) {
      durable(reply.revision(), onDurable);
      return;
    }
    long leader = reply.find(keys.leader()).map(Etcd.KeyValue::modRevision).orElse(0L);
    if (leader != term) {
      end(listener::onFenced);
      return;
    }
    Etcd.KeyValue found = reply.find(keys.head()).orElse(null);
    if (found != null && found.value().equals(head)) {
      durable(found.modRevision(), onDurable);
      return;
    }
    end(() ->
        listener.onFault(
            "Expected head at revision "
                + headRevision
                + " or as written by "
                + what
                + " of term "
                + term
                + ", but it is "
                + (found == null ? "gone." : "at revision " + found.modRevision() + ".")));
  }

  private void durable(long revision, LongConsumer onDurable) {
    headRevision = revision;
    inFlight = null;
    if (stalled) {
      stalled = false;
      listener.onResumed();
    }
    onDurable.accept(revision);
  }

  private void refuse(String what) {
    if (over || inFlight != null) {
      throw new IllegalStateException(
          "Expected an appender that is free, but it is " + (over ? "over." : "in flight."));
    }
    over = true;
    strand.execute(() -> listener.onFault(what));
  }

  private void end(Runnable last) {
    over = true;
    inFlight = null;
    last.run();
  }
}
