package dev.baton.chaos.environment.machines;

import dev.baton.chaos.environment.Tool;
import dev.baton.cli.cluster.Daemon.Role;
import dev.baton.cli.cluster.NodeCommand;
import dev.baton.coordination.server.EtcdServer;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The files of this machine that members need, under the paths that they have here: the running JDK
 * without its tools' sources and modules, the class path, etcd, what shell tasks use, and the
 * libraries of all of these. So a command line is the same inside of a container as outside.
 */
final class RootFiles {
  /** What the worker's handler of commands needs, and nothing else. */
  private static final List<String> TOOLS = List.of("sh", "setsid", "sleep", "rm");

  private static final Set<String> LEFT_OUT =
      Set.of("jmods", "demo", "man", "include", "legal", "src.zip", "ct.sym");
  private static final Pattern LIBRARY = Pattern.compile("(?:=>\\s+)?(/\\S+)\\s+\\(0x");
  private static final int BUFFER_BYTES = 1 << 16;

  private final NavigableSet<Path> paths;

  private RootFiles(NavigableSet<Path> paths) {
    this.paths = paths;
  }

  static RootFiles collect(Map<String, String> environment) {
    RootFiles files = new RootFiles(new TreeSet<>());
    Path jdk = Path.of(System.getProperty("java.home"));
    files.tree(jdk);
    files.library(jdk.resolve("bin/java"));
    files.paths.stream()
        .filter(path -> path.startsWith(jdk) && path.toString().endsWith(".so"))
        .toList()
        .forEach(files::library);
    for (String entry : NodeCommand.classPath().split(File.pathSeparator, -1)) {
      files.tree(Path.of(entry));
    }
    for (Role role : List.of(Role.SCHEDULER, Role.WORKER)) {
      NodeCommand.options(role, environment).ifPresent(files::tree);
    }
    files.program(EtcdServer.find());
    TOOLS.forEach(tool -> files.program(tool(environment, tool)));
    return files;
  }

  /** Where a tool is, inside as outside. */
  static Path tool(Map<String, String> environment, String name) {
    return Tool.find(environment, name)
        .orElseThrow(() ->
            new ExitException(
                ExitCode.NOT_INSTALLED,
                "--env docker puts the program '"
                    + name
                    + "' into its image, but it is not installed: 'apt-get install dash coreutils"
                    + " util-linux'"));
  }

  private void program(Path program) {
    tree(program);
    library(program);
  }

  /** Everything under a path, and the folders above it. */
  private void tree(Path top) {
    if (!Files.exists(top)) {
      return;
    }
    try (Stream<Path> all = Files.walk(top, FileVisitOption.FOLLOW_LINKS)) {
      all.filter(path -> isWanted(top, path)).forEach(paths::add);
    } catch (IOException e) {
      throw new UncheckedIOException("The files under " + top + " cannot be listed", e);
    }
    for (Path parent = top.getParent(); parent != null; parent = parent.getParent()) {
      if (parent.getParent() != null) {
        paths.add(parent);
      }
    }
  }

  private static boolean isWanted(Path top, Path path) {
    for (Path name : top.relativize(path)) {
      if (LEFT_OUT.contains(name.toString())) {
        return false;
      }
    }
    return true;
  }

  /** The libraries that the loader would take; a program that is linked statically has none. */
  private void library(Path program) {
    libraries(Tool.run(List.of("ldd", program.toString()), "").output()).forEach(this::tree);
  }

  /** Paths in what ldd prints. */
  static List<Path> libraries(String printed) {
    List<Path> found = new ArrayList<>();
    for (String line : printed.split("\n", -1)) {
      Matcher matcher = LIBRARY.matcher(line.strip());
      if (matcher.find()) {
        found.add(Path.of(matcher.group(1)).normalize());
      }
    }
    return found;
  }

  /** A name for exactly these files: their paths and all that is in them. */
  String digest() {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] buffer = new byte[BUFFER_BYTES];
      for (Path path : paths) {
        digest.update((path + "\n").getBytes(StandardCharsets.UTF_8));
        if (Files.isRegularFile(path)) {
          try (InputStream in = Files.newInputStream(path)) {
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
              digest.update(buffer, 0, read);
            }
          }
        }
      }
      return HexFormat.of().formatHex(digest.digest(), 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Expected every JDK to know SHA-256.", e);
    } catch (IOException e) {
      throw new UncheckedIOException("The files of the image cannot be read", e);
    }
  }

  /**
   * The command that prints what an image of them is built from: an archive of a {@code Dockerfile}
   * and of them in a folder {@code root}. Links are followed: what one points to is in its place.
   *
   * @param work a folder of its own
   */
  List<String> archive(Path work) {
    StringBuilder names = new StringBuilder();
    paths.forEach(path -> names.append(path.toString().substring(1)).append('\0'));
    try {
      Files.writeString(work.resolve("names"), names);
      Files.writeString(work.resolve("Dockerfile"), "FROM scratch\nCOPY root /\n");
    } catch (IOException e) {
      throw new UncheckedIOException("The names of the image's files cannot be written", e);
    }
    return List.of(
        "tar",
        "--create",
        "--dereference",
        "--no-recursion",
        "--transform=s,^,root/,",
        "--transform=s,^root/Dockerfile$,Dockerfile,",
        "--directory=" + work,
        "Dockerfile",
        "--directory=/",
        "--null",
        "--files-from=" + work.resolve("names"));
  }
}
