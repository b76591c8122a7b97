package dev.baton.chaos.environment.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Wall clocks of single processes, by libfaketime; monotonic clocks stay as they are. */
final class FakeClocks {
  private static final String LIBRARY = "libfaketime.so.1";

  private final Path folder;

  FakeClocks(Path folder) {
    this.folder = folder;
  }

  /** Where the library is installed; empty: it is not. */
  static Optional<Path> library() {
    return Stream.of("x86_64-linux-gnu/", "aarch64-linux-gnu/", "")
        .map(arch -> Path.of("/usr/lib/" + arch + "faketime/" + LIBRARY))
        .filter(Files::exists)
        .findFirst();
  }

  Map<String, String> environment(String part) {
    set(part, Duration.ZERO);
    return Map.of(
        "LD_PRELOAD",
        library().orElseThrow().toString(),
        "FAKETIME_TIMESTAMP_FILE",
        file(part).toString(),
        "FAKETIME_DONT_FAKE_MONOTONIC",
        "1",
        "FAKETIME_CACHE_DURATION",
        "1");
  }

  void set(String part, Duration offset) {
    try {
      Files.createDirectories(folder);
      // In place: the library may read it at any moment.
      Files.writeString(file(part), String.format("%+d%n", offset.toSeconds()));
    } catch (IOException e) {
      throw new UncheckedIOException("The clock of " + part + " cannot be set", e);
    }
  }

  private Path file(String part) {
    return folder.resolve(part);
  }
}
