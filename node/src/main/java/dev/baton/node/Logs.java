package dev.baton.node;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.spi.FilterReply;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The logs of a process: lines on stderr, set up in code. Ids go into fields ({@code
 * log.atInfo().addKeyValue("run", id)…} or MDC), not into the message, so that both formats carry
 * them apart: {@code node}, {@code term}, {@code run}, {@code task} first.
 */
public final class Logs {
  /** A thread with this field in its MDC logs errors only. */
  public static final String QUIET = "quiet";

  private static final List<String> TALKATIVE =
      List.of("io.grpc", "io.netty", "io.vertx", "io.etcd", "org.eclipse.jetty");

  private Logs() {}

  /**
   * Replaces the set-up of the process.
   *
   * @param fields what every line carries, such as the node's id
   */
  public static void start(LogSettings settings, Map<String, String> fields) {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.reset();
    setUp(context, settings, fields);
  }

  /** Turns off a library's loggers: of what fails there its caller tells. */
  public static void silence(String logger) {
    ((LoggerContext) LoggerFactory.getILoggerFactory()).getLogger(logger).setLevel(Level.OFF);
  }

  static void setUp(LoggerContext context, LogSettings settings, Map<String, String> fields) {
    ConsoleAppender<ILoggingEvent> stderr = new ConsoleAppender<>();
    LogLines lines = new LogLines(settings.format(), fields);
    lines.setContext(context);
    lines.start();
    stderr.setContext(context);
    stderr.setTarget("System.err");
    stderr.setEncoder(lines);
    stderr.addFilter(new Quiet());
    stderr.start();
    ch.qos.logback.classic.Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    Level level = Level.convertAnSLF4JLevel(settings.level());
    root.setLevel(level);
    root.addAppender(stderr);
    Level ofLibraries = level.isGreaterOrEqual(Level.WARN) ? level : Level.WARN;
    TALKATIVE.forEach(name -> context.getLogger(name).setLevel(ofLibraries));
  }

  private static final class Quiet extends Filter<ILoggingEvent> {
    @Override
    public FilterReply decide(ILoggingEvent event) {
      return event.getMDCPropertyMap().containsKey(QUIET)
              && !event.getLevel().isGreaterOrEqual(Level.ERROR)
          ? FilterReply.DENY
          : FilterReply.NEUTRAL;
    }
  }
}
