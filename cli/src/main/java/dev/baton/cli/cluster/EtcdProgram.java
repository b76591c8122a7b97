package dev.baton.cli.cluster;

import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Sees to it that etcd is installed. */
public final class EtcdProgram {
  private static final List<String> UPDATE = List.of("apt-get", "update");
  private static final List<String> INSTALL =
      List.of("apt-get", "install", "-y", "--no-install-recommends", "etcd-server");
  private static final int INSTALL_MINUTES = 10;

  private EtcdProgram() {}

  /** Installs it where that is possible without asking, else says the one command. */
  public static void ensure(Map<String, String> environment, Consumer<String> progress) {
    if (isOnPath(environment, "etcd")) {
      return;
    }
    boolean root = "root".equals(System.getProperty("user.name"));
    boolean debian =
        Files.exists(Path.of("/etc/debian_version")) && isOnPath(environment, "apt-get");
    if (root && debian) {
      progress.accept("etcd is not installed: installing etcd-server (apt-get)");
      run(UPDATE);
      if (run(INSTALL) && isOnPath(environment, "etcd")) {
        return;
      }
    }
    throw new ExitException(
        ExitCode.NOT_INSTALLED,
        debian
            ? "etcd is not installed: run 'sudo apt-get install etcd-server'"
            : "etcd is not installed: install etcd 3.4 or newer, so that 'etcd' is on the PATH");
  }

  private static boolean run(List<String> command) {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")));
    builder.environment().put("DEBIAN_FRONTEND", "noninteractive");
    try {
      Process process = builder.start();
      if (!process.waitFor(INSTALL_MINUTES, TimeUnit.MINUTES)) {
        process.destroyForcibly();
        return false;
      }
      return process.exitValue() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static boolean isOnPath(Map<String, String> environment, String program) {
    return Stream.of(environment.getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }
}
