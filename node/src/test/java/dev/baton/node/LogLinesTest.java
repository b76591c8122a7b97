package dev.baton.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

class LogLinesTest {
  private final LogbackMDCAdapter mdc = new LogbackMDCAdapter();
  private final ListAppender<ILoggingEvent> events = new ListAppender<>();
  private Logger log = new LoggerContext().getLogger("none");

  @BeforeEach
  void collectEvents() {
    LoggerContext context = new LoggerContext();
    context.setMDCAdapter(mdc);
    events.setContext(context);
    events.start();
    ch.qos.logback.classic.Logger logger = context.getLogger("dev.baton.scheduler.Loop");
    logger.setLevel(Level.INFO);
    logger.addAppender(events);
    log = logger;
  }

  @Test
  void shouldPutTheWellKnownFieldsFirst() {
    mdc.put("term", "42");
    log.atInfo()
        .addKeyValue("worker", "w 1")
        .addKeyValue("task", "join")
        .addKeyValue("run", "01J")
        .log("lost {}", "it");

    String line = line(LogSettings.Format.TEXT);
    assertTrue(
        line.endsWith("Z INFO  Loop - lost it node=s1 term=42 run=01J task=join worker=\"w 1\"\n"),
        line);
  }

  @Test
  void shouldWriteOneJsonObjectALine() throws IOException {
    log.atWarn()
        .addKeyValue("entries", 3)
        .addKeyValue("message", "mine")
        .setCause(new IllegalStateException("broken"))
        .log("say \"hi\"\n");

    String line = line(LogSettings.Format.JSON);
    assertEquals(line.length() - 1, line.indexOf('\n'));
    JsonNode object = new ObjectMapper().readTree(line);
    assertEquals("say \"hi\"\n", object.get("message").textValue());
    assertEquals("mine", object.get("message_").textValue());
    assertEquals(3, object.get("entries").intValue());
    assertEquals("s1", object.get("node").textValue());
    assertTrue(
        object.get("error").textValue().startsWith("java.lang.IllegalStateException: broken"));
    assertTrue(object.get("time").textValue().matches("\\d{4}-\\d\\d-\\d\\dT[\\d:]{8}\\.\\d{3}Z"));
  }

  @Test
  void shouldNotLetTextForgeALine() {
    log.info("a\nb {}", "\u001b[2J\rc");
    assertTrue(line(LogSettings.Format.TEXT).contains("a\\nb ?[2J\\rc node=s1\n"));
  }

  @Test
  void shouldKeepTalkativeLibrariesAtWarnOrAbove() {
    LoggerContext context = new LoggerContext();
    Logs.setUp(
        context, new LogSettings(LogSettings.Format.TEXT, org.slf4j.event.Level.DEBUG), Map.of());
    assertEquals(Level.WARN, context.getLogger("io.grpc.netty.NettyClient").getEffectiveLevel());
    assertEquals(Level.DEBUG, context.getLogger("dev.baton.node.Any").getEffectiveLevel());

    Logs.setUp(
        context, new LogSettings(LogSettings.Format.TEXT, org.slf4j.event.Level.ERROR), Map.of());
    assertEquals(Level.ERROR, context.getLogger("org.eclipse.jetty").getEffectiveLevel());
  }

  private String line(LogSettings.Format format) {
    LogLines lines = new LogLines(format, Map.of("node", "s1"));
    return new String(lines.encode(events.list.getLast()), StandardCharsets.UTF_8);
  }
}
