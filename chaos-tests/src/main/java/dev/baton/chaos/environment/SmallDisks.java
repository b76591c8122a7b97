package dev.baton.chaos.environment;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Small file systems in memory under the data of members of etcd: root may mount them. */
public final class SmallDisks implements AutoCloseable {
  private static final String SIZE = "size=256m";
  private static final int BLOCK = 64 << 10;

  private final List<Path> mounted = new ArrayList<>();

  /** Why no disk can be made; empty: one can. */
  public static Optional<String> obstacle() {
    if (!Tool.isRoot()) {
      return Optional.of("only root may mount a small disk");
    }
    try {
      Path trial = Files.createTempDirectory("baton-disk");
      try {
        if (!run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", trial.toString())) {
          return Optional.of("this machine lets nobody mount a tmpfs");
        }
        boolean ignored = run("umount", trial.toString());
        return Optional.empty();
      } finally {
        Files.deleteIfExists(trial);
      }
    } catch (IOException e) {
      return Optional.of("a small disk cannot be mounted: " + e.getMessage());
    }
  }

  /** Puts one under a folder, which is made if need be. */
  public void mount(Path folder) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (!run("mount", "-t", "tmpfs", "-o", SIZE, "tmpfs", folder.toString())) {
      throw new IllegalStateException("Expected a tmpfs at " + folder + ", but mount failed.");
    }
    mounted.add(folder);
  }

  /** Writes until there is no room. */
  public void fill(Path folder) {
    byte[] block = new byte[BLOCK];
    try (OutputStream ballast = Files.newOutputStream(ballast(folder))) {
      while (true) {
        ballast.write(block);
      }
    } catch (IOException e) {
      // No space left: as wanted.
    }
  }

  /** Takes away what fills it. */
  public void free(Path folder) {
    try {
      Files.deleteIfExists(ballast(folder));
    } catch (IOException e) {
      throw new UncheckedIOException("The disk " + folder + " cannot be freed", e);
    }
  }

  @Override
  public void close() {
    for (Path folder : mounted) {
      if (!run("umount", folder.toString())) {
        boolean ignored = run("umount", "-l", folder.toString());
      }
    }
    mounted.clear();
  }

  private static Path ballast(Path folder) {
    return folder.resolve("ballast");
  }

  private static boolean run(String... command) {
    return Tool.run(List.of(command), "").succeeded();
  }
}
