package dev.baton.node;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.core.spi.ContextAwareBase;
import java.util.Map;
import org.slf4j.event.Level;

/**
 * Found by logback when the first logger is made: warnings only, until {@link Logs#start} knows the
 * settings. It also spares each start the search for configuration files.
 */
@ConfiguratorRank(ConfiguratorRank.CUSTOM_HIGH_PRIORITY)
public final class LogsBeforeStart extends ContextAwareBase implements Configurator {
  @Override
  public ExecutionStatus configure(LoggerContext context) {
    Logs.setUp(context, new LogSettings(LogSettings.Format.TEXT, Level.WARN), Map.of());
    return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
  }
}
