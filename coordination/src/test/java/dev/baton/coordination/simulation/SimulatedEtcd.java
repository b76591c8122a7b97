package dev.baton.coordination.simulation;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Etcd.GetReply;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Etcd.Lease;
import dev.baton.coordination.Etcd.ListReply;
import dev.baton.coordination.Etcd.ListRequest;
import dev.baton.coordination.Etcd.Status;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.StoreSize;
import dev.baton.coordination.Txn;
import dev.baton.coordination.TxnReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * A cluster of three etcd members in a {@link World}: as etcd 3.4 does it, and as unkind as its
 * {@link Faults} say.
 *
 * <p>It owns the store, the leases and the members; a request is carried out in one event. What it
 * can't do: disagree with itself, lose what it has committed, or authenticate anybody.
 */
public final class SimulatedEtcd {
  private static final String VERSION = "3.4.0";

  private final World world;
  private final Counts counts = new Counts();
  private final Store store;
  private final Leases leases;
  private final Members members;
  private final Faults faults;
  private final List<SimulatedClient> clients = new ArrayList<>();
  private final List<SimulatedWatch> watches = new ArrayList<>();

  public SimulatedEtcd(World world) {
    this.world = world;
    this.store = new Store(world);
    this.leases = new Leases(world, store, counts);
    this.members = new Members(world, leases, counts);
    this.faults = new Faults(world, this);
    store.observe(commit -> {
      happened(Happening.COMMIT);
      watches.forEach(watch -> watch.committed(commit));
    });
  }

  /** A client; an owner may have several, and they are cut off together. */
  public Etcd client(String owner) {
    SimulatedClient client = new SimulatedClient(world, this, owner);
    clients.add(client);
    return client;
  }

  /** Closes the clients that an owner has now, as the end of its process does. */
  public void crash(String owner) {
    clients.stream()
        .filter(client -> client.owner().equals(owner))
        .toList()
        .forEach(SimulatedClient::close);
  }

  public Faults faults() {
    return faults;
  }

  /** Called with each change of the store as it is applied, in the order of revisions. */
  public void observe(Consumer<Commit> observer) {
    store.observe(observer);
  }

  /** The newest state of a key. */
  public Optional<KeyValue> peek(ByteString key) {
    return Optional.ofNullable(store.get(key));
  }

  /** The newest state from {@code from} (inclusive) to {@code to} (exclusive). */
  public List<KeyValue> peekRange(ByteString from, ByteString to) {
    return store.range(from, to, store.revision());
  }

  /** The newest revision. */
  public long revision() {
    return store.revision();
  }

  public long count(Happening happening) {
    return counts.of(happening);
  }

  public Map<Happening, Long> counts() {
    return counts.all();
  }

  /** Tells whether a member leads, so that it can be made to hang; empty during an election. */
  public Optional<Integer> leader() {
    return members.isLed() ? Optional.of(members.leader()) : Optional.empty();
  }

  OptionalInt memberOf(String owner) {
    int[] members =
        clients.stream()
            .filter(client -> client.owner().equals(owner))
            .mapToInt(SimulatedClient::member)
            .distinct()
            .toArray();
    return members.length == 1 ? OptionalInt.of(members[0]) : OptionalInt.empty();
  }

  TxnReply txn(Txn txn, int member) {
    Transactions.check(txn);
    if (faults.isFull() && Transactions.needsSpace(txn)) {
      throw noSpace();
    }
    if (Transactions.isLocal(txn)) {
      long visible = faults.visibleRevision(member);
      if (visible < store.revision()) {
        happened(Happening.STALE_ANSWER);
      }
      return new TxnReply(Transactions.holds(txn, store, visible), visible, List.of());
    }
    return Transactions.carryOut(txn, store, leases);
  }

  GetReply get(ByteString key) {
    return new GetReply(store.get(key), store.revision());
  }

  ListReply list(ListRequest request) {
    return store.list(request);
  }

  Lease grant(Duration ttl) {
    if (faults.isFull()) {
      throw noSpace();
    }
    return leases.grant(ttl);
  }

  Optional<Duration> renew(long leaseId) {
    return leases.renew(leaseId);
  }

  void revoke(long leaseId) {
    if (leases.isKnown(leaseId)) {
      leases.revoke(leaseId);
    }
  }

  void compact(long revision) {
    if (store.compact(revision)) {
      happened(Happening.COMPACTION);
      watches.forEach(watch -> watch.compacted(revision));
    }
  }

  Status status(int member) {
    long size = faults.isFull() ? StoreSize.DEFAULT_QUOTA_BYTES : 4096 + store.sizeBytes();
    return new Status(
        VERSION,
        size,
        size,
        members.raftTerm(),
        members.isLed(member) ? members.leader() + 1 : 0,
        faults.visibleRevision(member));
  }

  Store store() {
    return store;
  }

  Members members() {
    return members;
  }

  /** Counts one. */
  void happened(Happening happening) {
    counts.add(happening);
  }

  void follow(SimulatedWatch watch) {
    watches.add(watch);
  }

  void unfollow(SimulatedWatch watch) {
    watches.remove(watch);
  }

  void forget(SimulatedClient client) {
    clients.remove(client);
  }

  List<SimulatedWatch> watchesOf(String owner) {
    return watches.stream().filter(watch -> watch.owner().equals(owner)).toList();
  }

  private RuntimeException noSpace() {
    happened(Happening.NO_SPACE);
    return Transactions.refused(Kind.NO_SPACE, "database space exceeded");
  }
}
