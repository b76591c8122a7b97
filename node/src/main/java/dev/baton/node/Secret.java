package dev.baton.node;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;

/**
 * A text that must not be seen: {@code toString} masks it. In a configuration file or an
 * environment variable it is the secret itself or {@code file:PATH}; on a command line, which every
 * user of the machine can read, only the latter.
 */
public final class Secret {
  static final String FILE = "file:";
  private static final int MAX_BYTES = 64 << 10;

  private final String text;

  public Secret(String text) {
    this.text = text;
  }

  /** Reads the secret, or the file that the text names (without the line end that closes it). */
  static Secret parse(String text) {
    if (!text.startsWith(FILE)) {
      return new Secret(text);
    }
    Path file = Path.of(text.substring(FILE.length()));
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw new IllegalArgumentException(
            "the secret's file %s is larger than 64 KiB".formatted(file));
      }
      return new Secret(Files.readString(file).stripTrailing());
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot read the secret's file %s".formatted(file), e);
    }
  }

  /** The text itself: hand it to the library that needs it, and to nothing else. */
  public String reveal() {
    return text;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Secret that && MessageDigest.isEqual(bytes(), that.bytes());
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  @Override
  public String toString() {
    return "****";
  }

  private byte[] bytes() {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
