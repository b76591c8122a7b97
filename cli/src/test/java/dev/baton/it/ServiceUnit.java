package dev.baton.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A unit file of systemd, and what it would start: its command in its environment. Users, limits
 * and what it forbids need systemd itself and are left out.
 */
record ServiceUnit(Host host, Map<String, String> service) {
  private static final Path ROOT = Path.of("..");

  /**
   * The folders of a host that units speak of, elsewhere: {@code /opt/baton}, {@code /etc/baton},
   * {@code /var/lib/baton}.
   */
  record Host(Path opt, Path etc, Path state) {
    /** As the package is laid out, and as the README beside the unit files says. */
    static Host install(Path folder) {
      Host host =
          new Host(
              folder.resolve("opt/baton"),
              folder.resolve("etc/baton"),
              folder.resolve("var/lib/baton"));
      try {
        for (Path each : List.of(host.opt.resolve("bin"), host.opt.resolve("lib"), host.etc)) {
          Files.createDirectories(each);
        }
        Files.copy(ROOT.resolve("baton"), host.opt.resolve("bin/baton"));
        if (!host.opt.resolve("bin/baton").toFile().setExecutable(true)) {
          throw new IllegalStateException("Expected bin/baton to become executable.");
        }
        for (Path jar : NodeCommands.jars()) {
          Files.createLink(host.opt.resolve("lib").resolve(jar.getFileName()), jar);
        }
        copy(ROOT.resolve("deploy/jvm"), host.opt.resolve("deploy/jvm"), ".options");
        copy(ROOT.resolve("deploy/systemd"), host.opt.resolve("deploy/systemd"), ".service");
        copy(ROOT.resolve("deploy/systemd"), host.etc, ".yaml");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return host;
    }

    ServiceUnit unit(String file) {
      Map<String, String> service = new LinkedHashMap<>();
      String section = "";
      try {
        for (String line : Files.readAllLines(opt.resolve("deploy/systemd").resolve(file))) {
          if (line.startsWith("[")) {
            section = line;
          } else if (section.equals("[Service]") && !line.startsWith("#") && line.contains("=")) {
            int equals = line.indexOf('=');
            service.put(line.substring(0, equals), line.substring(equals + 1).strip());
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return new ServiceUnit(this, service);
    }

    private String moved(String text) {
      return text.replace("/opt/baton", opt.toString())
          .replace("/etc/baton", etc.toString())
          .replace("/var/lib/baton", state.toString());
    }

    private static void copy(Path from, Path to, String suffix) throws IOException {
      Files.createDirectories(to);
      try (Stream<Path> files = Files.list(from)) {
        for (Path file : files.filter(each -> each.toString().endsWith(suffix)).toList()) {
          Files.copy(file, to.resolve(file.getFileName()));
        }
      }
    }
  }

  /**
   * The node that {@code systemctl start} would start, with these variables in the file for its id.
   *
   * @param grpcPort 0 for a worker
   */
  TestNode node(String id, int grpcPort, int httpPort, Map<String, String> variables) {
    Path variableFile = Path.of(value("EnvironmentFile", id).replaceFirst("^-", ""));
    List<String> lines = new ArrayList<>();
    variables.forEach((name, value) -> lines.add(name + "=" + value));
    lines.add("BATON_LISTEN_HTTP_PORT=" + httpPort);
    Path log = host.etc().resolveSibling(id + ".log");
    Path directory = Path.of(value("WorkingDirectory", id));
    try {
      Files.write(variableFile, lines);
      Files.createDirectories(directory);
      // What systemd does: the file's variables and a clean environment, then the command.
      List<String> command = new ArrayList<>(List.of("env", "-i", "-C", directory.toString()));
      command.add("PATH=" + System.getenv("PATH"));
      command.add("JAVA_HOME=" + System.getProperty("java.home"));
      command.addAll(Files.readAllLines(variableFile));
      command.addAll(List.of(value("ExecStart", id).split(" ", -1)));
      return new TestNode(id, grpcPort, httpPort, command, log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String value(String key, String id) {
    return host.moved(service.getOrDefault(key, "/").replace("%i", id));
  }
}
