package dev.baton.node;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.KeyValuePair;

/** One event as one line; only a stack trace in the text format has more. */
final class LogLines extends EncoderBase<ILoggingEvent> {
  private static final List<String> FIRST_FIELDS = List.of("node", "term", "run", "task");
  private static final Set<String> OWN_NAMES =
      Set.of("time", "level", "logger", "thread", "message", "error");
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final LogSettings.Format format;
  private final Map<String, String> processFields;

  LogLines(LogSettings.Format format, Map<String, String> processFields) {
    this.format = format;
    this.processFields = Map.copyOf(processFields);
  }

  @Override
  public byte[] headerBytes() {
    return new byte[0];
  }

  @Override
  public byte[] footerBytes() {
    return new byte[0];
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    String line =
        switch (format) {
          case TEXT -> text(event);
          case JSON -> json(event);
        };
    return (line + "\n").getBytes(StandardCharsets.UTF_8);
  }

  private String text(ILoggingEvent event) {
    StringBuilder line = new StringBuilder(160);
    line.append(time(event)).append(' ');
    line.append("%-5s".formatted(event.getLevel())).append(' ');
    String logger = event.getLoggerName();
    line.append(logger, logger.lastIndexOf('.') + 1, logger.length()).append(" - ");
    line.append(oneLine(event.getFormattedMessage()));
    fields(event).forEach((name, value) -> appendField(line, name, String.valueOf(value)));
    IThrowableProxy error = event.getThrowableProxy();
    if (error != null) {
      line.append('\n').append(ThrowableProxyUtil.asString(error).stripTrailing());
    }
    return line.toString();
  }

  private static void appendField(StringBuilder line, String name, String value) {
    boolean plain = !value.isEmpty() && value.chars().noneMatch(c -> c <= ' ' || c == '"');
    line.append(' ').append(name).append('=');
    line.append(plain ? value : '"' + oneLine(value).replace("\"", "\\\"") + '"');
  }

  /** Text that came from outside must not be able to forge a line. */
  private static String oneLine(@Nullable String text) {
    if (text == null) {
      return "";
    }
    return text.chars().anyMatch(Character::isISOControl)
        ? text.replace("\n", "\\n").replace("\r", "\\r").replaceAll("\\p{Cntrl}", "?")
        : text;
  }

  private String json(ILoggingEvent event) {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    object.put("time", time(event));
    object.put("level", event.getLevel().toString());
    object.put("logger", event.getLoggerName());
    object.put("thread", event.getThreadName());
    object.put("message", event.getFormattedMessage());
    fields(event)
        .forEach((name, value) ->
            object.put(
                OWN_NAMES.contains(name) ? name + "_" : name,
                value instanceof Number || value instanceof Boolean
                    ? value
                    : String.valueOf(value)));
    IThrowableProxy error = event.getThrowableProxy();
    if (error != null) {
      object.put("error", ThrowableProxyUtil.asString(error));
    }
    try {
      return JSON.writeValueAsString(object);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a map of texts and numbers is always JSON", e);
    }
  }

  /** All fields of an event: the process's, the thread's, its own; the well-known names first. */
  private Map<String, @Nullable Object> fields(ILoggingEvent event) {
    Map<String, @Nullable Object> all = new LinkedHashMap<>(processFields);
    all.putAll(event.getMDCPropertyMap());
    List<KeyValuePair> own = event.getKeyValuePairs();
    if (own != null) {
      own.forEach(pair -> all.put(pair.key, pair.value));
    }
    Map<String, @Nullable Object> ordered = new LinkedHashMap<>();
    for (String name : FIRST_FIELDS) {
      if (all.containsKey(name)) {
        ordered.put(name, all.remove(name));
      }
    }
    ordered.putAll(all);
    return ordered;
  }

  private static String time(ILoggingEvent event) {
    return TIME.format(Instant.ofEpochMilli(event.getTimeStamp()));
  }
}
