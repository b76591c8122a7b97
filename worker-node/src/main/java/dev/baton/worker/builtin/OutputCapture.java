package dev.baton.worker.builtin;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads a stream to its end and keeps its beginning and its end, in bounded memory.
 *
 * <p>The limits count bytes as they stand in a JSON string: a control character has six of them, so
 * a stream of those is cut to fewer characters. Bytes that are not UTF-8 become U+FFFD.
 */
final class OutputCapture {
  /** A character has at most four bytes: so many more make the cut fall between characters. */
  private static final int SLACK = 4;

  private final byte[] marker;
  private final byte[] head;
  private final byte[] ring;
  private long total;

  /**
   * @param marker ends the stream, though others hold it open; not part of it
   */
  OutputCapture(String marker, int headBytes, int tailBytes) {
    this.marker = marker.getBytes(StandardCharsets.US_ASCII);
    this.head = new byte[headBytes + SLACK];
    this.ring = new byte[tailBytes + SLACK];
  }

  /** Returns at the end of the stream, or at the marker. */
  void read(InputStream in) throws IOException {
    byte[] buffer = new byte[8192 + marker.length];
    int held = 0;
    while (true) {
      int count = in.read(buffer, held, buffer.length - held);
      if (count < 0) {
        keep(buffer, 0, held);
        return;
      }
      held += count;
      int at = indexOfMarker(buffer, held);
      if (at >= 0) {
        keep(buffer, 0, at);
        return;
      }
      // The last bytes may be the beginning of the marker.
      int sure = Math.max(0, held - marker.length + 1);
      keep(buffer, 0, sure);
      System.arraycopy(buffer, sure, buffer, 0, held - sure);
      held -= sure;
    }
  }

  /** What is kept, cut to the limits. */
  synchronized Text text(int headLimit, int tailLimit) {
    int headHeld = (int) Math.min(total, head.length);
    if (total <= head.length + (long) ring.length) {
      byte[] all = Arrays.copyOf(head, (int) total);
      int rest = (int) total - headHeld;
      copyTail(rest, all, headHeld);
      String whole = new String(all, StandardCharsets.UTF_8);
      if (encodedLength(whole) <= headLimit + (long) tailLimit) {
        return new Text(whole, false);
      }
      return cut(whole, whole, headLimit, tailLimit);
    }
    byte[] tail = new byte[ring.length];
    copyTail(tail.length, tail, 0);
    int start = 0;
    while (start < SLACK && (tail[start] & 0xc0) == 0x80) {
      start++;
    }
    return cut(
        new String(head, StandardCharsets.UTF_8),
        new String(tail, start, tail.length - start, StandardCharsets.UTF_8),
        headLimit,
        tailLimit);
  }

  /**
   * @param cut something in the middle was left out
   */
  record Text(String text, boolean cut) {}

  /** Bytes of a text inside a JSON string, in UTF-8. */
  static int encodedLength(int codePoint) {
    return switch (codePoint) {
      case '"', '\\', '\b', '\f', '\n', '\r', '\t' -> 2;
      default -> {
        if (codePoint < 0x20) {
          yield 6;
        }
        yield codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
      }
    };
  }

  static long encodedLength(String text) {
    return text.codePoints().mapToLong(OutputCapture::encodedLength).sum();
  }

  private Text cut(String first, String last, int headLimit, int tailLimit) {
    int end = 0;
    int used = 0;
    while (end < first.length()) {
      int codePoint = first.codePointAt(end);
      used += encodedLength(codePoint);
      if (used > headLimit) {
        break;
      }
      end += Character.charCount(codePoint);
    }
    int start = last.length();
    used = 0;
    while (start > 0) {
      int codePoint = last.codePointBefore(start);
      used += encodedLength(codePoint);
      if (used > tailLimit) {
        break;
      }
      start -= Character.charCount(codePoint);
    }
    return new Text(
        first.substring(0, end)
            + "\n[... cut: the stream had "
            + total
            + " bytes ...]\n"
            + last.substring(start),
        true);
  }

  private synchronized void keep(byte[] bytes, int offset, int length) {
    int toHead = (int) Math.min(length, Math.max(0, head.length - total));
    if (toHead > 0) {
      System.arraycopy(bytes, offset, head, (int) total, toHead);
    }
    total += toHead;
    for (int i = offset + toHead; i < offset + length; ) {
      int at = (int) ((total - head.length) % ring.length);
      int count = Math.min(ring.length - at, offset + length - i);
      System.arraycopy(bytes, i, ring, at, count);
      total += count;
      i += count;
    }
  }

  /** The last {@code count} bytes of what followed the head. */
  private void copyTail(int count, byte[] into, int offset) {
    for (int i = 0; i < count; i++) {
      into[offset + i] = ring[(int) ((total - head.length - count + i) % ring.length)];
    }
  }

  private int indexOfMarker(byte[] buffer, int length) {
    for (int i = 0; i + marker.length <= length; i++) {
      if (Arrays.equals(buffer, i, i + marker.length, marker, 0, marker.length)) {
        return i;
      }
    }
    return -1;
  }
}
