package dev.baton.node;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** A node that has two parts and nothing to do. */
final class SampleNode {
  record Settings(
      @Flag(value = "--id", help = "name of this node") String id,
      @Default("false") boolean fail,
      @Default("false") boolean hang,
      @Default("false") boolean giveUp,
      @Default("false") boolean slow) {}

  private SampleNode() {}

  public static void main(String[] args) {
    NodeProcess.main("sample", Settings.class, args, SampleNode::start);
  }

  private static void start(Settings settings, NodeProcess process) {
    process.closeWithin(Duration.ofMillis(settings.hang() ? 300 : 10_000));
    process.closeLater("first", () -> System.out.println("closed first"));
    if (settings.fail()) {
      throw new ExitException(ExitCode.ID_IN_USE, "the id is taken");
    }
    if (settings.slow()) {
      System.out.println("starting " + settings.id());
      awaitForEver();
    }
    process.closeLater(
        "second",
        () -> {
          if (settings.hang()) {
            awaitForEver();
          }
          System.out.println("closed second");
        });
    System.out.println("started " + settings.id());
    if (settings.giveUp()) {
      Thread.ofPlatform()
          .start(() -> {
            throw new NoClassDefFoundError("on purpose");
          });
    }
  }

  private static void awaitForEver() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted", e);
    }
  }
}
