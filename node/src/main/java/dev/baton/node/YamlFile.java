package dev.baton.node;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * A configuration file as a flat map from path to value, each with its line. Values stay the text
 * that was written: what it means is the setting's matter, not YAML's.
 */
final class YamlFile {
  private static final int MAX_BYTES = 1 << 20;
  private static final int MAX_DEPTH = 16;

  private final Path file;
  private final Map<String, Given> values = new LinkedHashMap<>();

  private YamlFile(Path file) {
    this.file = file;
  }

  static Map<String, Given> read(Path file) {
    YamlFile reader = new YamlFile(file);
    Node root = reader.compose(reader.text());
    if (root instanceof MappingNode mapping) {
      reader.addSection("", mapping, 1);
    } else if (root != null) {
      throw reader.refusal(
          "names and values are expected ('id: s1'), but got something else", root);
    }
    return reader.values;
  }

  private String text() {
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw refusal("%s is larger than 1 MiB: it can't be a configuration".formatted(file));
      }
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      throw refusal("the configuration file %s does not exist".formatted(file));
    } catch (CharacterCodingException e) {
      throw refusal("the configuration file %s is not UTF-8 text".formatted(file));
    } catch (IOException e) {
      throw refusal("cannot read the configuration file %s (%s)".formatted(file, e));
    }
  }

  private @Nullable Node compose(String text) {
    LoaderOptions options = new LoaderOptions();
    options.setNestingDepthLimit(MAX_DEPTH);
    try {
      return new Yaml(new SafeConstructor(options)).compose(new StringReader(text));
    } catch (MarkedYAMLException e) {
      int line = e.getProblemMark() == null ? 1 : e.getProblemMark().getLine() + 1;
      throw refusal("%s line %d is not YAML: %s".formatted(file, line, e.getProblem()));
    } catch (YAMLException e) {
      throw refusal("%s is not YAML: %s".formatted(file, e.getMessage()));
    }
  }

  private void addSection(String prefix, MappingNode mapping, int depth) {
    if (depth > MAX_DEPTH) {
      throw refusal("sections nest deeper than %d".formatted(MAX_DEPTH), mapping);
    }
    for (NodeTuple tuple : mapping.getValue()) {
      if (!(tuple.getKeyNode() instanceof ScalarNode name)) {
        throw refusal("a name is expected", tuple.getKeyNode());
      }
      add(prefix + name.getValue(), tuple.getValueNode(), depth);
    }
  }

  private void add(String path, Node value, int depth) {
    switch (value) {
      case MappingNode section -> addSection(path + ".", section, depth + 1);
      case SequenceNode list -> put(path, new Given(texts(path, list), true, origin(list)), list);
      case ScalarNode scalar when scalar.getTag().equals(Tag.NULL) -> {} // 'name:' gives nothing
      case ScalarNode scalar -> put(path, Given.text(scalar.getValue(), origin(scalar)), scalar);
      default -> throw refusal(path + " is neither a value, a list nor a section", value);
    }
  }

  private List<String> texts(String path, SequenceNode list) {
    List<String> texts = new ArrayList<>();
    for (Node item : list.getValue()) {
      if (!(item instanceof ScalarNode scalar)) {
        throw refusal(path + " holds single values only", item);
      }
      texts.add(scalar.getValue());
    }
    return List.copyOf(texts);
  }

  private void put(String path, Given given, Node node) {
    Given before = values.put(path, given);
    if (before != null) {
      throw refusal("%s was given already (%s)".formatted(path, before.origin()), node);
    }
  }

  private String origin(Node node) {
    return "%s line %d".formatted(file, node.getStartMark().getLine() + 1);
  }

  private ExitException refusal(String sentence, Node node) {
    return refusal("%s: %s".formatted(origin(node), sentence));
  }

  private static ExitException refusal(String sentence) {
    return new ExitException(ExitCode.CONFIGURATION, sentence);
  }
}
