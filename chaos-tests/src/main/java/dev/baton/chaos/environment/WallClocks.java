package dev.baton.chaos.environment;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Wall clocks of single processes that can be set wrong: by a page of C, {@code wallclock.c}, which
 * is compiled when it is needed, and which the loader puts before the C library. It reads how wrong
 * a clock is from a file in shared memory. Monotonic time stays true.
 */
public final class WallClocks {
  private static final String COMPILER = "cc";
  private static final String SOURCE = "wallclock.c";
  private static final String LIBRARY = "wallclock.so";

  private final Path folder;

  /**
   * Makes nothing yet.
   *
   * @param folder of its files, which all members must see
   */
  public WallClocks(Path folder) {
    this.folder = folder;
  }

  /**
   * Why no clock can be set; empty: all can.
   *
   * @param environment of this program
   */
  public static Optional<String> obstacle(Map<String, String> environment) {
    return Tool.find(environment, COMPILER).isPresent()
        ? Optional.empty()
        : Optional.of("a clock is set by a page of C: 'apt-get install gcc libc6-dev' compiles it");
  }

  /** What a member's process needs in its environment; its clock is right at first. */
  public Map<String, String> environment(String member) {
    Path library = folder.resolve(LIBRARY);
    if (!Files.exists(library)) {
      compile(library);
    }
    if (!Files.exists(file(member))) {
      set(member, Duration.ZERO);
    }
    return Map.of("LD_PRELOAD", library.toString(), "WALL_CLOCK_FILE", file(member).toString());
  }

  /** Sets a member's clock wrong by so much, also that of a process which is started later. */
  public void set(String member, Duration by) {
    ByteBuffer seconds = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
    seconds.putLong(0, by.toSeconds());
    try (FileChannel channel =
        FileChannel.open(file(member), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      // In one call, and never shorter meanwhile: somebody looks at it.
      int unused = channel.write(seconds, 0);
    } catch (IOException e) {
      throw new UncheckedIOException("The clock of " + member + " cannot be set", e);
    }
  }

  private Path file(String member) {
    return folder.resolve(member);
  }

  private void compile(Path library) {
    Path source = folder.resolve(SOURCE);
    try (InputStream in = WallClocks.class.getResourceAsStream(SOURCE)) {
      if (in == null) {
        throw new IllegalStateException("Expected " + SOURCE + " beside this class.");
      }
      Files.createDirectories(folder);
      Files.copy(in, source, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException("The source " + source + " cannot be written", e);
    }
    String unused =
        Tool.require(
            List.of(
                COMPILER,
                "-shared",
                "-fPIC",
                "-O2",
                "-o",
                library.toString(),
                source.toString(),
                "-ldl"),
            "");
  }
}
