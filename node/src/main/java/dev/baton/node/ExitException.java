package dev.baton.node;

import java.net.BindException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The program must end: its message is the one sentence that a user reads, its code what a script
 * sees. It is never printed with a stack trace.
 */
public final class ExitException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ExitCode code;

  public ExitException(ExitCode code, String sentence) {
    this(code, sentence, null);
  }

  public ExitException(ExitCode code, String sentence, @Nullable Throwable cause) {
    super(sentence, cause);
    this.code = code;
  }

  /**
   * An address on which a server could not listen.
   *
   * @param setting the setting that names the port, such as {@code listen.httpPort}
   */
  public static ExitException cannotListen(HostPort address, String setting, Throwable cause) {
    String reason = reason(cause);
    String text = reason.toLowerCase(Locale.ROOT);
    String sentence;
    if (text.contains("in use")) {
      sentence =
          "port %d on %s is in use: end the process that holds it, or set %s to another port (0 takes any free one)"
              .formatted(address.port(), address.host(), setting);
    } else if (text.contains("assign") || text.contains("unresolved")) {
      sentence =
          "%s is no address of this machine: set listen.insecureBind to one that is"
              .formatted(address.host());
    } else {
      sentence =
          "cannot listen on %s (%s): set %s to another port".formatted(address, reason, setting);
    }
    return new ExitException(ExitCode.PORT_IN_USE, sentence, cause);
  }

  private static String reason(Throwable failure) {
    Throwable deepest = failure;
    while (deepest.getCause() != null && !(deepest instanceof BindException)) {
      deepest = deepest.getCause();
    }
    String message = deepest.getMessage();
    return message == null ? deepest.getClass().getSimpleName() : message;
  }

  public ExitCode code() {
    return code;
  }

  /** What the user reads. */
  public String sentence() {
    String message = getMessage();
    return message == null ? code.name() : message;
  }
}
