package dev.baton.chaos.environment.machines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Names by which leftovers are known, and what is read of other programs. */
class NamesTest {
  private static final String SPACE = "b007:pid:[4026531836]";

  @Test
  void shouldKnowItsOwnNamespacesOnly() {
    assertEquals(Optional.of(4711L), NamespaceMachines.owner("baton-4711-etcd-0"));
    assertEquals(Optional.of(4711L), NamespaceMachines.owner("baton-4711-hub"));
    assertEquals(Optional.empty(), NamespaceMachines.owner("baton-hub"));
    assertEquals(Optional.empty(), NamespaceMachines.owner("dk"));
    assertEquals(Optional.empty(), NamespaceMachines.owner("my-baton-4711-hub"));
  }

  @Test
  void shouldNameALinkAsLinuxAllows() {
    assertTrue(NamespaceMachines.uplink(4_194_304).length() <= 15);
    assertTrue(NamespaceMachines.uplink(Integer.MAX_VALUE).length() <= 15);
  }

  @Test
  void shouldLeaveWhatALivingOrAForeignProgramMade() {
    long alive = ProcessHandle.current().pid();
    assertFalse(ContainerMachines.isLeftOver(SPACE + ":" + alive, SPACE));
    assertFalse(ContainerMachines.isLeftOver("other:pid:[1]:999999999", SPACE));
    assertFalse(ContainerMachines.isLeftOver("", SPACE));
    assertTrue(ContainerMachines.isLeftOver(SPACE + ":999999999", SPACE));
  }

  @Test
  void shouldFindLibrariesInWhatTheLoaderPrints() {
    String printed =
        """
        \tlinux-vdso.so.1 (0x00007ffd4c1f2000)
        \tlibc.so.6 => /lib/jdk/../x86_64-linux-gnu/libc.so.6 (0x00007f1a2b000000)
        \tlibmissing.so => not found
        \t/lib64/ld-linux-x86-64.so.2 (0x00007f1a2b400000)
        """;
    assertEquals(
        List.of(Path.of("/lib/x86_64-linux-gnu/libc.so.6"), Path.of("/lib64/ld-linux-x86-64.so.2")),
        RootFiles.libraries(printed));
    assertEquals(List.of(), RootFiles.libraries("\tnot a dynamic executable"));
  }
}
