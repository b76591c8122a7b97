package dev.baton.scheduler.model;

import java.util.HexFormat;

/** SHA-256 of a workflow's canonical text: the same content has the same hash. */
public record SpecHash(long a, long b, long c, long d) {
  /** Reads 32 bytes. */
  public static SpecHash of(byte[] sha256) {
    if (sha256.length != 32) {
      throw new IllegalArgumentException("Expected 32 bytes, but got " + sha256.length);
    }
    var buffer = java.nio.ByteBuffer.wrap(sha256);
    return new SpecHash(buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong());
  }

  /** The 32 bytes. */
  public byte[] bytes() {
    return java.nio.ByteBuffer.allocate(32).putLong(a).putLong(b).putLong(c).putLong(d).array();
  }

  @Override
  public String toString() {
    return HexFormat.of().formatHex(bytes());
  }
}
