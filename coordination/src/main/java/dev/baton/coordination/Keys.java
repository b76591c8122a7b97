package dev.baton.coordination;

import com.google.protobuf.ByteString;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * The names of all keys under one prefix, {@code /<namespace>/}, so that clusters can share an
 * etcd.
 *
 * <p>Numbers are written as 16 hexadecimal digits: the order of keys is the order of numbers.
 */
public final class Keys {
  private static final Pattern NAMESPACE = Pattern.compile("[a-z0-9-]{1,32}");
  private static final HexFormat HEX = HexFormat.of();

  private final String prefix;

  public Keys(String namespace) {
    if (!NAMESPACE.matcher(namespace).matches()) {
      throw new IllegalArgumentException(
          "Expected a namespace of 1 to 32 characters of a-z, 0-9 and -, but got '"
              + namespace
              + "'.");
    }
    this.prefix = "/" + namespace + "/";
  }

  public String prefix() {
    return prefix;
  }

  public ByteString cluster() {
    return key("cluster");
  }

  public ByteString leader() {
    return key("leader");
  }

  public ByteString head() {
    return key("head");
  }

  public ByteString nodes() {
    return key("nodes/");
  }

  public ByteString node(String id) {
    return key("nodes/" + id);
  }

  public ByteString workers() {
    return key("workers/");
  }

  public ByteString worker(String id) {
    return key("workers/" + id);
  }

  public ByteString journal() {
    return key("journal/");
  }

  public ByteString journal(long seq) {
    return key("journal/" + hex(seq));
  }

  public ByteString snapshot() {
    return key("snapshot");
  }

  public ByteString snapshots() {
    return key("snapshots/");
  }

  public ByteString snapshots(long seq) {
    return key("snapshots/" + hex(seq) + "/");
  }

  public ByteString snapshotTry(long seq, String attempt) {
    return key("snapshots/" + hex(seq) + "/" + attempt + "/");
  }

  public ByteString snapshotChunk(long seq, String attempt, int index) {
    return key("snapshots/" + hex(seq) + "/" + attempt + "/" + String.format("%06d", index));
  }

  public ByteString specs() {
    return key("specs/");
  }

  public ByteString spec(long number) {
    return key("specs/" + hex(number));
  }

  public ByteString history() {
    return key("history/");
  }

  public ByteString history(long seq) {
    return key("history/" + hex(seq));
  }

  public ByteString historyParts() {
    return key("history-parts/");
  }

  public ByteString historyParts(long run) {
    return key("history-parts/" + hex(run) + "/");
  }

  public ByteString historyPart(long run, int index) {
    return key("history-parts/" + hex(run) + "/" + String.format("%06d", index));
  }

  public ByteString payloads() {
    return key("payloads/");
  }

  public ByteString payloads(long run) {
    return key("payloads/" + hex(run) + "/");
  }

  public ByteString payload(long run, int task, int attempt) {
    return key("payloads/" + hex(run) + "/" + String.format("%05d/%05d", task, attempt));
  }

  public ByteString params() {
    return key("params/");
  }

  public ByteString params(String runId) {
    return key("params/" + runId + "/");
  }

  public ByteString params(String runId, long nonce) {
    return key("params/" + runId + "/" + hex(nonce));
  }

  /** The first key after all that start with {@code prefix}. */
  public static ByteString end(ByteString prefix) {
    byte[] end = prefix.toByteArray();
    for (int i = end.length - 1; i >= 0; i--) {
      if (end[i] != (byte) 0xff) {
        end[i]++;
        return ByteString.copyFrom(end, 0, i + 1);
      }
    }
    throw new IllegalArgumentException("Expected a prefix that has an end, but got " + prefix);
  }

  /** The first key after {@code key}. */
  public static ByteString after(ByteString key) {
    return key.concat(ByteString.copyFrom(new byte[1]));
  }

  /** The number at the end of a key whose last part is one. */
  public static long numberOf(ByteString key) {
    String text = key.toStringUtf8();
    return HexFormat.fromHexDigitsToLong(text, text.lastIndexOf('/') + 1, text.length());
  }

  private static String hex(long number) {
    return HEX.toHexDigits(number);
  }

  private ByteString key(String rest) {
    return ByteString.copyFromUtf8(prefix + rest);
  }
}
