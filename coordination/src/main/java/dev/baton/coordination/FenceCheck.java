package dev.baton.coordination;

import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Txn.Compare;
import dev.baton.coordination.Txn.Op;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks etcd whether the term still leads, for decisions that write nothing.
 *
 * <p>One question is out at a time and counts for those who asked before it was sent; all who come
 * meanwhile share the next one. It has a get in both branches, or etcd would answer from one member
 * that may be stale.
 *
 * <p>Belongs to the loop's strand.
 */
public final class FenceCheck {
  /** What a check found. */
  public enum Outcome {
    /** When etcd answered, after the check was asked for, the term led. */
    LEADS,
    /** Another leads, or nobody: step down. */
    FENCED,
    /** No answer until the lease deadline: step down. */
    UNKNOWN
  }

  private final Etcd etcd;
  private final Strand strand;
  private final LongSupplier leaseDeadlineNanos;
  private final Txn question;

  private List<Consumer<Outcome>> waiting = new ArrayList<>();
  private List<Consumer<Outcome>> asking = new ArrayList<>();
  private @Nullable InsistentTxn inFlight;
  private boolean over;

  public FenceCheck(
      Etcd etcd, Strand strand, Keys keys, long term, LongSupplier leaseDeadlineNanos) {
    this.etcd = etcd;
    this.strand = strand;
    this.leaseDeadlineNanos = leaseDeadlineNanos;
    List<Op> get = List.of(new Op.Get(keys.leader()));
    this.question = new Txn(List.of(new Compare.ModRevision(keys.leader(), term)), get, get);
  }

  /** Calls {@code then} on the strand, later, with what a check found that was sent after now. */
  public void check(Consumer<Outcome> then) {
    if (over) {
      return;
    }
    waiting.add(then);
    if (inFlight == null && waiting.size() == 1) {
      strand.execute(this::send);
    }
  }

  /**
   * Something written in the term that was sent after all who wait had asked is durable: that
   * answers them as well. They are told at once, before whoever waited for the write, since what
   * they were to say is older.
   */
  public void confirm() {
    List<Consumer<Outcome>> asked = new ArrayList<>(asking);
    asked.addAll(waiting);
    waiting = new ArrayList<>();
    if (inFlight != null) {
      inFlight.cancel();
    }
    tell(asked, Outcome.LEADS);
  }

  /** Nobody who waits is called any more. */
  public void close() {
    over = true;
    waiting.clear();
    if (inFlight != null) {
      inFlight.cancel();
    }
  }

  private void send() {
    if (over || inFlight != null || waiting.isEmpty()) {
      return;
    }
    List<Consumer<Outcome>> asked = waiting;
    asking = asked;
    waiting = new ArrayList<>();
    inFlight =
        new InsistentTxn(
            etcd,
            strand,
            leaseDeadlineNanos,
            question,
            new InsistentTxn.Listener() {
              @Override
              public void onStalled(Kind kind) {}

              @Override
              public void onReply(TxnReply reply) {
                tell(asked, reply.succeeded() ? Outcome.LEADS : Outcome.FENCED);
              }

              @Override
              public void onRefused(EtcdException refusal) {
                tell(asked, Outcome.UNKNOWN);
              }

              @Override
              public void onDeadline() {
                tell(asked, Outcome.UNKNOWN);
              }
            });
    inFlight.start();
  }

  private void tell(List<Consumer<Outcome>> asked, Outcome outcome) {
    inFlight = null;
    asking = new ArrayList<>();
    for (Consumer<Outcome> then : asked) {
      if (!over) {
        then.accept(outcome);
      }
    }
    send();
  }
}
