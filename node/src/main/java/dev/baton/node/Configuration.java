package dev.baton.node;

import dev.baton.node.Schema.Setting;
import dev.baton.node.Schema.Shape;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a program: one validated record, read once at start from a YAML file, overridden
 * by environment variables, overridden by the command line.
 *
 * <p>A component of the record is a setting: text, boolean, int, long, double, {@link
 * java.time.Duration}, {@link HostPort}, {@link java.nio.file.Path}, {@link Secret}, an enum, a
 * {@code List} or {@code Map<String, …>} of these, or a record that is a section of its own. {@link
 * Default} and {@code @Nullable} say what happens if nobody gives it, {@link Flag} gives it a flag.
 * Compact constructors judge what can't be seen from a type: their IllegalArgumentException becomes
 * the sentence that the user reads, with the section's path before it.
 */
public final class Configuration<T extends Record> {
  /** Variables under our prefix that belong to the start script, the CLI, or a shell task. */
  private static final Set<String> VARIABLES_OF_OTHERS =
      Set.of(
          "BATON_HOME",
          "BATON_HEAP",
          "BATON_JAVA_OPTS",
          "BATON_ENDPOINTS",
          "BATON_CLUSTER",
          "BATON_RUN",
          "BATON_TASK",
          "BATON_ATTEMPT",
          "BATON_IDEMPOTENCY_KEY",
          "BATON_OUTPUT");

  /** What Kubernetes puts into the environment for a service whose name begins with ours. */
  private static final Pattern SERVICE_LINK =
      Pattern.compile(
          "BATON_(\\w+_)?(SERVICE_HOST|SERVICE_PORT(_\\w+)?|PORT(_\\d+_(TCP|UDP)(_\\w+)?)?)");

  private final Schema schema;
  private final Map<String, Given> given = new TreeMap<>();
  private final T settings;

  private Configuration(Class<T> type, Sources sources) {
    this.schema = new Schema(type);
    if (sources.file() != null) {
      YamlFile.read(sources.file()).forEach(this::give);
    }
    new TreeMap<>(sources.environment()).forEach(this::giveVariable);
    new TreeMap<>(sources.commandLine()).forEach(this::giveFlag);
    this.settings = bind(type, "");
  }

  /** Reads the settings, or throws an {@link ExitException} with the sentence for the user. */
  public static <T extends Record> Configuration<T> read(Class<T> type, Sources sources) {
    return new Configuration<>(type, sources);
  }

  /** What was read. */
  public T settings() {
    return settings;
  }

  /** All settings, a line each, as YAML with their origins; secrets are masked. */
  public String effective() {
    StringBuilder text = new StringBuilder();
    for (Setting setting : schema.settings()) {
      Object value = value(setting.path());
      if (value instanceof Map<?, ?> map) {
        map.forEach((name, item) -> appendLine(text, setting.path() + "." + name, item));
      } else {
        appendLine(text, setting.path(), value);
      }
    }
    return text.toString();
  }

  private void appendLine(StringBuilder text, String path, @Nullable Object value) {
    text.append(path).append(':');
    if (value != null) {
      text.append(' ').append(Scalars.format(value));
    }
    Given source = given.get(path);
    if (source != null) {
      text.append("  # ").append(source.origin());
    }
    text.append('\n');
  }

  /** Finds a setting in the record by its path. */
  private @Nullable Object value(String path) {
    Object value = settings;
    for (String name : path.split("\\.", -1)) {
      value = value == null ? null : component(value, name);
    }
    return value;
  }

  private static @Nullable Object component(Object owner, String name) {
    try {
      Method accessor = owner.getClass().getDeclaredMethod(name);
      accessor.setAccessible(true);
      return accessor.invoke(owner);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("no component " + name + " in " + owner.getClass(), e);
    }
  }

  private void giveVariable(String name, String text) {
    if (!name.startsWith(Schema.VARIABLE_PREFIX)
        || text.isEmpty()
        || VARIABLES_OF_OTHERS.contains(name)) {
      return;
    }
    Setting setting = schema.byVariable(name).orElse(null);
    if (setting != null) {
      give(setting.path(), Given.text(text, name));
    } else if (!SERVICE_LINK.matcher(name).matches()) {
      String meant = name.substring(Schema.VARIABLE_PREFIX.length());
      throw refusal(
          "the variable %s is no setting%s".formatted(name, hint(meant, Setting::variable)));
    }
  }

  private void giveFlag(String path, String text) {
    boolean secret =
        schema.owner(path).filter(setting -> setting.type() == Secret.class).isPresent();
    if (secret && !text.startsWith(Secret.FILE)) {
      throw refusal(
          "%s on the command line could be read by every user of this machine: give it in the file, as a variable, or as file:PATH"
              .formatted(path));
    }
    give(path, Given.text(text, "command line"));
  }

  /** Takes a value over what an earlier source gave. */
  private void give(String path, Given value) {
    Setting setting = schema.owner(path).orElse(null);
    if (setting == null) {
      throw refusal(
          schema.isSection(path)
              ? "%s (%s) is a section, not a value%s".formatted(path, value.origin(), example(path))
              : "%s (%s) is no setting%s"
                  .formatted(path, value.origin(), hint(path, Setting::path)));
    }
    if (setting.shape() == Shape.MAP && path.equals(setting.path())) {
      judged(setting.path(), value, () -> Given.entries(value.single()))
          .forEach((name, text) -> given.put(path + "." + name, Given.text(text, value.origin())));
    } else {
      given.put(path, value);
    }
  }

  private String hint(String meant, Function<Setting, String> written) {
    return schema
        .nearest(meant)
        .map(setting -> "; did you mean %s?".formatted(written.apply(setting)))
        .orElse("; --help lists them all");
  }

  private String example(String section) {
    return schema.settings().stream()
        .filter(setting -> setting.path().startsWith(section + "."))
        .findFirst()
        .map(setting -> ": it holds settings such as " + setting.path())
        .orElse("");
  }

  private <R extends Record> R bind(Class<R> type, String prefix) {
    RecordComponent[] components = type.getRecordComponents();
    @Nullable Object[] values = new @Nullable Object[components.length];
    for (int i = 0; i < components.length; i++) {
      String path = prefix + components[i].getName();
      values[i] =
          schema.isSection(path)
              ? bind(components[i].getType().asSubclass(Record.class), path + ".")
              : bind(schema.owner(path).orElseThrow());
    }
    Class<?>[] types =
        Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    try {
      Constructor<R> constructor = type.getDeclaredConstructor(types);
      constructor.setAccessible(true);
      return constructor.newInstance(values);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof IllegalArgumentException refused) {
        throw refusal(prefix + refused.getMessage() + origins(prefix));
      }
      throw new IllegalStateException("the settings " + type + " can't be made", e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the settings " + type + " can't be made", e);
    }
  }

  /** Where the values of a section came from, for a sentence about all of it. */
  private String origins(String prefix) {
    String origins =
        given.entrySet().stream()
            .filter(entry -> entry.getKey().startsWith(prefix))
            .map(entry -> entry.getValue().origin())
            .distinct()
            .limit(3)
            .collect(Collectors.joining(", "));
    return origins.isEmpty() ? "" : " (from " + origins + ")";
  }

  private @Nullable Object bind(Setting setting) {
    return switch (setting.shape()) {
      case MAP -> bindMap(setting);
      case LIST -> {
        Given value = givenOrDefault(setting);
        yield value == null ? null : judged(setting.path(), value, () -> list(setting, value));
      }
      case SINGLE -> {
        Given value = givenOrDefault(setting);
        yield value == null
            ? null
            : judged(setting.path(), value, () -> Scalars.parse(setting.type(), value.single()));
      }
    };
  }

  private static List<Object> list(Setting setting, Given value) {
    return value.many().stream().map(text -> Scalars.parse(setting.type(), text)).toList();
  }

  /** A map may be empty, unlike other settings, so that it needs no default. */
  private Map<String, Object> bindMap(Setting setting) {
    Map<String, Object> map = new LinkedHashMap<>();
    if (setting.fallback() != null) {
      Given.entries(setting.fallback())
          .forEach((name, text) -> map.put(name, Scalars.parse(setting.type(), text)));
    }
    String prefix = setting.path() + ".";
    given.forEach((path, value) -> {
      if (path.startsWith(prefix)) {
        Object item = judged(path, value, () -> Scalars.parse(setting.type(), value.single()));
        map.put(path.substring(prefix.length()), item);
      }
    });
    return Collections.unmodifiableMap(map);
  }

  private @Nullable Given givenOrDefault(Setting setting) {
    Given value = given.get(setting.path());
    if (value != null) {
      return value;
    }
    if (setting.fallback() != null) {
      return Given.text(setting.fallback(), "default");
    }
    if (setting.nullable()) {
      return null;
    }
    String flag =
        setting.flag() == null ? "--set " + setting.path() + "=…" : setting.flag().value();
    throw refusal(
        "%s is missing: give it in the configuration file, as %s or by %s"
            .formatted(setting.path(), setting.variable(), flag));
  }

  private static <V> V judged(String path, Given value, Supplier<V> reading) {
    try {
      return reading.get();
    } catch (IllegalArgumentException e) {
      throw refusal("%s (%s): %s".formatted(path, value.origin(), e.getMessage()));
    }
  }

  private static ExitException refusal(String sentence) {
    return new ExitException(ExitCode.CONFIGURATION, sentence);
  }
}
