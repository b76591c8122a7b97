package dev.baton.worker.builtin;

import com.fasterxml.jackson.databind.JsonNode;
import dev.baton.worker.FatalTaskException;
import dev.baton.worker.TaskContext;
import dev.baton.worker.TaskFailedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a shell task asks for, validated.
 *
 * @param program the program and its arguments
 * @param environment in addition to what commands always get
 * @param directory null: the worker's own
 */
record ShellCommand(
    List<String> program, Map<String, String> environment, @Nullable Path directory) {
  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  static ShellCommand of(TaskContext context) throws TaskFailedException {
    String command = context.input("command", String.class);
    if (command.isBlank()) {
      throw new FatalTaskException("Expected 'command' to name something to run, but it is empty.");
    }
    List<String> program = new ArrayList<>();
    if (context.find("args").isPresent()) {
      JsonNode args = context.input("args");
      if (!args.isArray()) {
        throw new FatalTaskException("Expected 'args' to be a list, but got " + args + ".");
      }
      program.add(command);
      args.forEach(arg -> program.add(text("args", arg)));
    } else {
      program.addAll(List.of("sh", "-c", command));
    }
    return new ShellCommand(List.copyOf(program), environment(context), directory(context));
  }

  private static Map<String, String> environment(TaskContext context) {
    Map<String, String> environment = new LinkedHashMap<>();
    if (context.find("env").isPresent()) {
      JsonNode env = context.input("env");
      if (!env.isObject()) {
        throw new FatalTaskException("Expected 'env' to be a map, but got " + env + ".");
      }
      env.properties()
          .forEach(entry -> {
            String name = entry.getKey();
            if (!NAME.matcher(name).matches() || name.startsWith("BATON_")) {
              throw new FatalTaskException(
                  "Expected names in 'env' of A-Z, a-z, 0-9 and _ that do not start with BATON_,"
                      + " but got '"
                      + name
                      + "'.");
            }
            environment.put(name, text("env." + name, entry.getValue()));
          });
    }
    return environment;
  }

  private static @Nullable Path directory(TaskContext context) throws TaskFailedException {
    if (context.find("cwd").isEmpty()) {
      return null;
    }
    Path directory = Path.of(context.input("cwd", String.class));
    if (!Files.isDirectory(directory)) {
      throw new TaskFailedException("'cwd' is no directory on this worker: " + directory);
    }
    return directory;
  }

  private static String text(String where, JsonNode node) {
    if (!node.isValueNode() || node.isNull()) {
      throw new FatalTaskException(
          "Expected '"
              + where
              + "' to hold texts, numbers or booleans, but got "
              + node
              + ". Write JSON as a text.");
    }
    return node.asText();
  }
}
