package dev.baton.worker.attempt;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.baton.proto.v1.TaskResult.Status;
import dev.baton.worker.FatalTaskException;
import dev.baton.worker.TaskFailedException;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * How a handler ended.
 *
 * @param outputJson empty unless it succeeded
 * @param error empty if it succeeded
 * @param isFinal no further attempt can do better
 */
record Outcome(Status status, String outputJson, String error, boolean isFinal) {
  static final ObjectMapper JSON =
      JsonMapper.builder().enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8).build();

  /** Of an output's JSON text. */
  static final int MAX_OUTPUT_BYTES = 256 << 10;

  static final int MAX_ERROR_BYTES = 4 << 10;

  private static final String INTERRUPTED = "interrupted";

  static Outcome returned(@Nullable Object value) {
    if (value == null) {
      return new Outcome(Status.SUCCESS, "", "", false);
    }
    Limited bytes = new Limited();
    try {
      JSON.writeValue(bytes, value);
    } catch (Exception | StackOverflowError e) {
      return failed(
          "The output, a "
              + value.getClass().getName()
              + ", cannot be made JSON: "
              + e.getMessage()
              + ". Return a value that Jackson can write.",
          false);
    }
    if (bytes.total > MAX_OUTPUT_BYTES) {
      return failed(
          "The output has "
              + bytes.total
              + " bytes as JSON, but at most "
              + MAX_OUTPUT_BYTES
              + " are allowed. Store it elsewhere and return where it is.",
          false);
    }
    return new Outcome(Status.SUCCESS, bytes.kept.toString(StandardCharsets.UTF_8), "", false);
  }

  static Outcome threw(Throwable thrown) {
    return switch (thrown) {
      case FatalTaskException e -> failed(String.valueOf(e.getMessage()), true);
      case TaskFailedException e -> failed(String.valueOf(e.getMessage()), false);
      case InterruptedException e -> failed(INTERRUPTED, false);
      case Throwable e ->
          failed(
              e.getMessage() == null
                  ? e.getClass().getName()
                  : e.getClass().getName() + ": " + e.getMessage(),
              false);
    };
  }

  static Outcome failed(String error, boolean isFinal) {
    return new Outcome(Status.FAILED, "", cutBytes(error, MAX_ERROR_BYTES), isFinal);
  }

  /** Told to stop, a handler does not return. */
  static Outcome overdue(Status status, String reason, long seconds) {
    String error = reason + "; its handler had not returned " + seconds + " s later";
    return new Outcome(status, "", cutBytes(error, MAX_ERROR_BYTES), false);
  }

  /** The same end, judged as {@code status}; what the handler said of it is kept. */
  Outcome as(Status other, String reason) {
    boolean silent = error.isEmpty() || error.equals(INTERRUPTED);
    String said = silent ? "" : "; the handler said: " + error;
    return new Outcome(other, "", cutBytes(reason + said, MAX_ERROR_BYTES), false);
  }

  static String cutCharacters(String text, int max) {
    if (text.length() <= max) {
      return text;
    }
    return text.substring(0, Character.isHighSurrogate(text.charAt(max - 1)) ? max - 1 : max);
  }

  /** Cuts at the end, between characters, to so many bytes of UTF-8. */
  static String cutBytes(String text, int max) {
    // Also makes a lone surrogate harmless, which would be refused when the message is written.
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int end = Math.min(bytes.length, max);
    while (end < bytes.length && end > 0 && (bytes[end] & 0xc0) == 0x80) {
      end--;
    }
    return new String(bytes, 0, end, StandardCharsets.UTF_8);
  }

  /** Keeps no more than the limit, but counts on, so that a refusal can name the size. */
  private static final class Limited extends OutputStream {
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream(256);
    private long total;

    @Override
    public void write(int b) {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      total += length;
      if (total <= MAX_OUTPUT_BYTES) {
        kept.write(bytes, offset, length);
      }
    }
  }
}
