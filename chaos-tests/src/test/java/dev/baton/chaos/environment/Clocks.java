package dev.baton.chaos.environment;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** A process that answers each line with its wall clock and its monotonic one, in milliseconds. */
final class Clocks {
  private Clocks() {}

  public static void main(String[] arguments) throws IOException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    while (in.readLine() != null) {
      System.out.println(System.currentTimeMillis() + " " + System.nanoTime() / 1_000_000);
    }
  }
}
