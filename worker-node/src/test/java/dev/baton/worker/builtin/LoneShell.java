package dev.baton.worker.builtin;

import java.util.Map;

/** A process that runs a shell attempt and can be killed. */
final class LoneShell {
  private LoneShell() {}

  public static void main(String[] args) throws Exception {
    new ShellHandler()
        .handle(
            FakeContext.with(
                "command",
                "echo $BATON_OUTPUT > $WHERE; trap '' TERM; (sleep 600 &); sh -c \"trap '' TERM; sleep 600; sleep 600\"",
                "env",
                Map.of("MARK", args[0], "WHERE", args[1])));
  }
}
