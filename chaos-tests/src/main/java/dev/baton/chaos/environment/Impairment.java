package dev.baton.chaos.environment;

import java.time.Duration;

/**
 * What happens to bytes on their way from one process to another.
 *
 * @param cut nothing arrives until it is lifted; as with TCP, nothing that was sent is lost either
 * @param delay of everything
 * @param loss part of the packets that are lost and sent again later
 */
public record Impairment(boolean cut, Duration delay, double loss) {
  public static final Impairment CUT = new Impairment(true, Duration.ZERO, 0);

  public static Impairment slow(Duration delay, double loss) {
    return new Impairment(false, delay, loss);
  }
}
