package dev.baton.worker.builtin;

import com.fasterxml.jackson.databind.JsonNode;
import dev.baton.worker.FatalTaskException;
import dev.baton.worker.TaskContext;
import dev.baton.worker.TaskFailedException;
import dev.baton.worker.TaskHandler;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Works on text: {@code text}, or the UTF-8 file {@code path} of at most 16 MiB on the worker's
 * machine. The input {@code operation} says what to do; {@code limit} how many entries to list
 * (10).
 *
 * <ul>
 *   <li>{@code word_count}: {@code {words, lines, characters, top: [{word, count}]}}
 *   <li>{@code keywords}: {@code {keywords: [{word, score}]}}, by RAKE
 *   <li>{@code merge_counts}: adds up {@code counts}, a list of outputs of {@code word_count}:
 *       {@code {words, top}}. It sees only the words that those list.
 * </ul>
 */
final class TextProcessHandler implements TaskHandler {
  private static final int MAX_FILE_BYTES = 16 << 20;
  private static final int DEFAULT_LIMIT = 10;
  private static final int MAX_LIMIT = 5_000;

  private record Merged(long words, List<Words.Count> top) {}

  @Override
  public Object handle(TaskContext context) throws TaskFailedException {
    String operation = context.input("operation", String.class);
    return switch (operation) {
      case "word_count" -> Words.count(text(context), limit(context), context);
      case "keywords" -> Keywords.extract(text(context), limit(context), context);
      case "merge_counts" -> merge(context.input("counts"), limit(context));
      default ->
          throw new FatalTaskException(
              "Expected 'operation' to be word_count, keywords or merge_counts, but got '"
                  + operation
                  + "'.");
    };
  }

  private static int limit(TaskContext context) {
    int limit =
        context.find("limit").isPresent() ? context.input("limit", Integer.class) : DEFAULT_LIMIT;
    if (limit < 0 || limit > MAX_LIMIT) {
      throw new FatalTaskException(
          "Expected 'limit' to be 0 to " + MAX_LIMIT + ", but got " + limit + ".");
    }
    return limit;
  }

  private static String text(TaskContext context) throws TaskFailedException {
    Optional<JsonNode> text = context.find("text");
    Optional<JsonNode> path = context.find("path");
    if (text.isPresent() == path.isPresent()) {
      throw new FatalTaskException(
          "Expected either the input 'text' or 'path', but the task has "
              + (text.isPresent() ? "both." : "neither."));
    }
    return text.isPresent()
        ? context.input("text", String.class)
        : read(context.input("path", String.class));
  }

  private static String read(String path) throws TaskFailedException {
    byte[] bytes;
    try {
      Path file = Path.of(path);
      if (Files.exists(file) && !Files.isRegularFile(file)) {
        throw new FatalTaskException("Expected 'path' to name a file, but '" + path + "' is none.");
      }
      try (InputStream in = Files.newInputStream(file)) {
        bytes = in.readNBytes(MAX_FILE_BYTES + 1);
      }
    } catch (NoSuchFileException | InvalidPathException e) {
      // Another worker may have it: not final.
      throw new TaskFailedException("The file '" + path + "' does not exist on this worker.", e);
    } catch (IOException e) {
      throw new TaskFailedException("The file '" + path + "' cannot be read: " + e, e);
    }
    if (bytes.length > MAX_FILE_BYTES) {
      throw new FatalTaskException(
          "The file '"
              + path
              + "' is larger than "
              + MAX_FILE_BYTES
              + " bytes (16 MiB). Split it and merge the counts.");
    }
    CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    ByteBuffer in = ByteBuffer.wrap(bytes);
    CharBuffer out = CharBuffer.allocate(bytes.length);
    CoderResult result = decoder.decode(in, out, true);
    if (result.isError()) {
      throw new FatalTaskException(
          "The file '" + path + "' is not UTF-8 text: byte " + in.position() + " is malformed.");
    }
    return out.flip().toString();
  }

  private static Merged merge(JsonNode counts, int top) {
    if (!counts.isArray()) {
      throw new FatalTaskException(
          "Expected 'counts' to be a list of outputs of word_count, but got a "
              + counts.getNodeType().name().toLowerCase(java.util.Locale.ROOT)
              + ".");
    }
    long words = 0;
    Map<String, Long> sums = new HashMap<>();
    for (int i = 0; i < counts.size(); i++) {
      JsonNode part = counts.get(i);
      require(part.path("words").isIntegralNumber() && part.path("top").isArray(), i);
      words += part.path("words").longValue();
      for (JsonNode entry : part.path("top")) {
        require(entry.path("word").isTextual() && entry.path("count").isIntegralNumber(), i);
        sums.merge(entry.path("word").textValue(), entry.path("count").longValue(), Long::sum);
      }
    }
    return new Merged(words, Words.top(sums, top));
  }

  private static void require(boolean holds, int index) {
    if (!holds) {
      throw new FatalTaskException(
          "Expected each of 'counts' to be {words, top: [{word, count}]} as word_count makes it,"
              + " but number "
              + (index + 1)
              + " is not.");
    }
  }
}
