package dev.baton.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.baton.coordination.EtcdException.Kind;
import dev.baton.coordination.testing.RealEtcd;
import dev.baton.coordination.testing.UnkindEtcd;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The live view of a folder, on one real member. */
class RegistryTest extends RealEtcd {
  private UnkindEtcd network;
  private Registry registry;
  private final List<String> told = new CopyOnWriteArrayList<>();

  RegistryTest() {
    super(1);
  }

  @BeforeEach
  void createRegistry() {
    told.clear();
    network = new UnkindEtcd(etcd);
    registry = new Registry(network, strand, keys.workers(), RandomGenerator.getDefault());
  }

  @AfterEach
  void closeRegistry() {
    onStrand(registry::close);
  }

  @Test
  void shouldTellWhatIsThereAndWhatChanges() {
    put(keys.worker("a"), "1");
    put(keys.node("x"), "1");
    start();
    awaitUntil("the list", SOON, () -> told.equals(List.of("put a=1", "listed")));
    put(keys.worker("b"), "1");
    put(keys.worker("a"), "2");
    delete(keys.worker("b"));
    awaitUntil(
        "changes",
        SOON,
        () -> told.equals(List.of("put a=1", "listed", "put b=1", "put a=2", "delete b")));
    List<String> late = new CopyOnWriteArrayList<>();
    onStrand(() -> registry.add(new Telling(late)));
    assertEquals(List.of("put a=2", "listed"), late);
  }

  @Test
  void shouldHaveToldAllThatWasThereOnceItIsListedAgain() {
    put(keys.worker("a"), "1");
    start();
    awaitUntil("the list", SOON, () -> told.equals(List.of("put a=1", "listed")));
    network.failWatches(Kind.COMPACTED);
    for (int i = 0; i < 20; i++) {
      put(keys.worker("b"), String.valueOf(i));
      refresh();
      awaitUntil("the list", SOON, () -> told.contains("listed"));
      assertTrue(told.contains("put b=" + i), told::toString);
    }
    network.cut = true;
    refresh();
    put(keys.worker("c"), "1");
    awaitAlways("no list", Duration.ofMillis(300), () -> !told.contains("listed"));
    network.cut = false;
    awaitUntil("it lists again", SOON, () -> told.contains("listed"));
    assertEquals(List.of("put c=1", "listed"), told.subList(told.size() - 2, told.size()));
  }

  private void refresh() {
    onStrand(() -> {
      told.removeIf("listed"::equals);
      registry.refresh();
    });
  }

  @Test
  void shouldTellTheDifferenceAfterAFailure() {
    put(keys.worker("gone"), "1");
    put(keys.worker("same"), "1");
    put(keys.worker("other"), "1");
    start();
    awaitUntil("the list", SOON, () -> told.contains("listed"));
    told.clear();
    network.cut = true;
    network.failWatches(Kind.COMPACTED);
    delete(keys.worker("gone"));
    put(keys.worker("other"), "2");
    put(keys.worker("new"), "1");
    awaitAlways("nothing is told", Duration.ofMillis(300), told::isEmpty);
    network.cut = false;
    awaitUntil("the list", Duration.ofSeconds(15), () -> told.contains("listed"));
    assertEquals(4, told.size(), told.toString());
    assertTrue(told.containsAll(List.of("put new=1", "put other=2", "delete gone")));
    put(keys.worker("new"), "2");
    awaitUntil("it watches again", SOON, () -> told.contains("put new=2"));
  }

  @Test
  void shouldSurviveTheDeathOfItsMember() {
    put(keys.worker("a"), "1");
    start();
    awaitUntil("the list", SOON, () -> told.contains("listed"));
    cluster.kill(0);
    cluster.start(0);
    cluster.awaitHealthy(Duration.ofSeconds(20));
    put(keys.worker("b"), "1");
    awaitUntil("the change", Duration.ofSeconds(15), () -> told.contains("put b=1"));
    assertEquals(1, told.stream().filter("put a=1"::equals).count());
  }

  private void start() {
    onStrand(() -> {
      registry.add(new Telling(told));
      registry.start();
    });
  }

  private record Telling(List<String> told) implements Registry.Listener {
    @Override
    public void onPut(Etcd.KeyValue keyValue) {
      told.add("put " + name(keyValue.key()) + "=" + keyValue.value().toStringUtf8());
    }

    @Override
    public void onDelete(ByteString key) {
      told.add("delete " + name(key));
    }

    @Override
    public void onListed() {
      told.add("listed");
    }

    private static String name(ByteString key) {
      String text = key.toStringUtf8();
      return text.substring(text.lastIndexOf('/') + 1);
    }
  }
}
