package dev.baton.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What may be said about how to reach etcd. */
class EtcdConfigTest {
  @Test
  void shouldTakeAddressesWithAndWithoutAScheme() {
    assertEquals(
        List.of("127.0.0.1:2379", "etcd-1:2379", "[::1]:2379"),
        EtcdConfig.of(List.of("127.0.0.1:2379", "http://etcd-1:2379/", "[::1]:2379")).targets());
    assertNotNull(EtcdConfig.of(List.of("https://etcd-1:2379")).tls());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "localhost", "ftp://localhost:2379", "a b:1", "localhost:port"})
  void shouldRefuseWhatIsNoAddress(String endpoint) {
    assertThrows(IllegalArgumentException.class, () -> EtcdConfig.of(List.of(endpoint)));
  }

  @Test
  void shouldRefuseWhatContradictsItself() {
    assertThrows(IllegalArgumentException.class, () -> EtcdConfig.of(List.of()));
    assertThrows(
        IllegalArgumentException.class, () -> EtcdConfig.of(List.of("http://a:1", "https://b:1")));
    assertThrows(
        IllegalArgumentException.class, () -> new EtcdConfig(List.of("a:1"), "root", null, null));
    assertThrows(
        IllegalArgumentException.class, () -> new EtcdConfig.Tls(null, Path.of("cert"), null));
    EtcdConfig.Tls tls = new EtcdConfig.Tls(Path.of("ca"), null, null);
    assertThrows(
        IllegalArgumentException.class,
        () -> new EtcdConfig(List.of("http://a:1"), null, null, tls));
  }

  @Test
  void shouldNotPrintThePassword() {
    assertFalse(
        new EtcdConfig(List.of("a:1"), "root", "secret", null).toString().contains("secret"));
  }
}
