package dev.baton.coordination.simulation;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.WatchEvent;
import dev.baton.coordination.EtcdException;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.Txn;
import dev.baton.coordination.Txn.Op;
import dev.baton.coordination.TxnReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A simulated etcd, one client of the owner {@code a}, and what tests do with it. */
final class Scene {
  static final Duration SOON = Duration.ofMillis(500);
  static final Duration LONG = Duration.ofSeconds(30);
  static final ByteString KEY = ByteString.copyFromUtf8("/w/key");
  static final ByteString FROM = ByteString.copyFromUtf8("/w/");
  static final ByteString TO = ByteString.copyFromUtf8("/w0");

  final World world;
  final SimulatedEtcd cluster;
  final Etcd etcd;

  Scene(long seed) {
    this.world = new World(seed);
    this.cluster = new SimulatedEtcd(world);
    this.etcd = cluster.client("a");
  }

  /** What a watch has told, without its signs of life. */
  static final class Told implements Etcd.WatchListener {
    final List<String> words = new ArrayList<>();

    @Override
    public void onOpen() {
      words.add("open");
    }

    @Override
    public void onEvents(List<WatchEvent> events, long revision) {
      if (!events.isEmpty()) {
        words.add(events.size() + " events");
      }
    }

    @Override
    public void onFailure(EtcdException failure) {
      words.add(failure.kind().name());
    }
  }

  CompletableFuture<TxnReply> put(String value) {
    return etcd.txn(write(new Op.Put(KEY, ByteString.copyFromUtf8(value), 0)), SOON);
  }

  static Txn write(Op op) {
    return new Txn(List.of(), List.of(op), List.of());
  }

  Told watch(long from) {
    return watch(etcd, from);
  }

  static Told watch(Etcd by, long from) {
    Told told = new Told();
    by.watch(new Etcd.WatchRequest(FROM, TO, from, true), told);
    return told;
  }

  <T> T await(CompletableFuture<T> call) {
    assertTrue(world.runUntil(LONG, call::isDone), "an answer");
    return call.join();
  }

  Kind failure(CompletableFuture<?> call) {
    assertTrue(world.runUntil(LONG, call::isDone), "an answer");
    return EtcdException.of(call.exceptionNow()).kind();
  }

  boolean answers(Etcd by) {
    CompletableFuture<?> call = by.get(KEY, SOON);
    assertTrue(world.runUntil(LONG, call::isDone), "an answer");
    return !call.isCompletedExceptionally();
  }
}
