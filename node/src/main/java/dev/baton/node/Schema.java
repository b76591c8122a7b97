package dev.baton.node;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The settings that a record class has, by their paths and in the order of its components. */
final class Schema {
  static final String VARIABLE_PREFIX = "BATON_";

  private final Map<String, Setting> settings = new LinkedHashMap<>();
  private final Map<String, Setting> byVariable = new HashMap<>();

  Schema(Class<? extends Record> type) {
    addComponents(type, "", Map.of());
  }

  /**
   * One setting.
   *
   * @param type the type of the value, or of each in a list or map
   * @param fallback the default as a user would write it; null: there is none
   */
  record Setting(
      String path,
      Shape shape,
      Class<?> type,
      @Nullable String fallback,
      boolean nullable,
      @Nullable Flag flag) {
    String variable() {
      return VARIABLE_PREFIX
          + path.replaceAll("([a-z0-9])([A-Z])", "$1_$2")
              .replace('.', '_')
              .toUpperCase(Locale.ROOT);
    }
  }

  enum Shape {
    SINGLE,
    LIST,
    MAP
  }

  Collection<Setting> settings() {
    return settings.values();
  }

  Optional<Setting> byVariable(String variable) {
    return Optional.ofNullable(byVariable.get(variable));
  }

  /** The setting that a path belongs to; an entry of a map belongs to the map. */
  Optional<Setting> owner(String path) {
    Setting exact = settings.get(path);
    if (exact != null) {
      return Optional.of(exact);
    }
    return settings.values().stream()
        .filter(setting -> setting.shape() == Shape.MAP && path.startsWith(setting.path() + "."))
        .findFirst();
  }

  boolean isSection(String path) {
    return settings.keySet().stream().anyMatch(setting -> setting.startsWith(path + "."));
  }

  /** The setting that was probably meant. */
  Optional<Setting> nearest(String path) {
    String wanted = plain(path);
    Optional<Setting> sameName =
        settings.values().stream()
            .filter(setting -> plain(lastName(setting.path())).equals(plain(lastName(path))))
            .findFirst();
    return sameName.or(() ->
        settings.values().stream()
            .min(Comparator.comparingInt(setting -> distance(plain(setting.path()), wanted)))
            .filter(setting ->
                distance(plain(setting.path()), wanted) <= Math.max(2, wanted.length() / 4)));
  }

  private void addComponents(
      Class<? extends Record> type, String prefix, Map<String, String> outerDefaults) {
    for (RecordComponent component : type.getRecordComponents()) {
      String path = prefix + component.getName();
      Default own = component.getAnnotation(Default.class);
      if (component.getType().isRecord() && !Scalars.known(component.getType())) {
        Map<String, String> defaults = new HashMap<>();
        if (own != null) {
          Given.entries(own.value()).forEach((name, text) -> defaults.put(path + "." + name, text));
        }
        defaults.putAll(outerDefaults);
        addComponents(component.getType().asSubclass(Record.class), path + ".", defaults);
      } else {
        String fallback = outerDefaults.getOrDefault(path, own == null ? null : own.value());
        add(setting(path, component, fallback));
      }
    }
  }

  private static Setting setting(
      String path, RecordComponent component, @Nullable String fallback) {
    Class<?> raw = component.getType();
    Shape shape = raw == List.class ? Shape.LIST : raw == Map.class ? Shape.MAP : Shape.SINGLE;
    Class<?> type = shape == Shape.SINGLE ? raw : element(component.getGenericType());
    if (!Scalars.known(type)) {
      throw new IllegalStateException("a setting can't be a " + type + ": " + path);
    }
    boolean nullable = component.getAnnotatedType().isAnnotationPresent(Nullable.class);
    return new Setting(path, shape, type, fallback, nullable, component.getAnnotation(Flag.class));
  }

  private static Class<?> element(Type type) {
    Type[] arguments = ((ParameterizedType) type).getActualTypeArguments();
    return (Class<?>) arguments[arguments.length - 1];
  }

  private void add(Setting setting) {
    settings.put(setting.path(), setting);
    if (byVariable.put(setting.variable(), setting) != null) {
      throw new IllegalStateException("two settings share the variable " + setting.variable());
    }
  }

  private static String lastName(String path) {
    return path.substring(path.lastIndexOf('.') + 1);
  }

  private static String plain(String text) {
    return text.toLowerCase(Locale.ROOT).replaceAll("[._-]", "");
  }

  /** How many letters must change to make one text of the other. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int above = row[j];
        int change = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(change, Math.min(above, row[j - 1]) + 1);
        diagonal = above;
      }
    }
    return row[b.length()];
  }
}
