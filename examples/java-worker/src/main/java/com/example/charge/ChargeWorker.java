package com.example.charge;

import dev.baton.node.LogSettings;
import dev.baton.node.Logs;
import dev.baton.worker.Worker;
import java.util.Arrays;
import java.util.Map;
import org.slf4j.event.Level;

/** A worker of your own: {@code java -jar charge-worker-1.0.0.jar ID ETCD_ENDPOINT...}. */
public final class ChargeWorker {
  private ChargeWorker() {}

  public static void main(String[] args) throws InterruptedException {
    if (args.length < 2) {
      System.err.println("usage: charge-worker ID ETCD_ENDPOINT...   (such as c1 127.0.0.1:2379)");
      System.exit(2);
    }
    Logs.start(new LogSettings(LogSettings.Format.TEXT, Level.INFO), Map.of("node", args[0]));
    Worker worker =
        Worker.builder(args[0])
            .etcd(Arrays.copyOfRange(args, 1, args.length))
            .slots(8)
            .handler("charge", new ChargeHandler())
            .start();
    // SIGTERM drains: what runs may end, and its results are handed over.
    Runtime.getRuntime().addShutdownHook(new Thread(worker::close));
    worker.awaitClosed();
  }
}
