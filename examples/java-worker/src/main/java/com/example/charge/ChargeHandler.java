package com.example.charge;

import dev.baton.worker.FatalTaskException;
import dev.baton.worker.TaskContext;
import dev.baton.worker.TaskHandler;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Charges a customer. The task may be executed more than once (a worker can be lost), but the
 * customer is charged once: the payment service is called with the task's idempotency key, which is
 * the same for all its attempts.
 */
final class ChargeHandler implements TaskHandler {
  /** The input {@code charge}. */
  record Charge(String customer, long cents) {}

  /** The output, which later tasks read as {@code tasks.ID.output.reference}. */
  record Receipt(String customer, long cents, String reference) {}

  /** Stands for a payment service that knows idempotency keys. */
  private final Map<String, Receipt> payments = new ConcurrentHashMap<>();

  @Override
  public Receipt handle(TaskContext task) throws InterruptedException {
    Charge charge = task.input("charge", Charge.class);
    if (charge.cents() <= 0) {
      // No other attempt can do better: the task is not tried again.
      throw new FatalTaskException(
          "Expected 'charge.cents' to be more than 0, but got " + charge.cents() + ".");
    }
    task.progress(0.5, "charging " + charge.customer());
    if (Thread.interrupted()) {
      throw new InterruptedException(); // cancelled, or out of time, before the charge
    }
    return payments.computeIfAbsent(
        task.idempotencyKey(),
        key -> new Receipt(charge.customer(), charge.cents(), "payment-" + key));
  }
}
