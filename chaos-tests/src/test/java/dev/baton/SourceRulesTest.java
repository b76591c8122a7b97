package dev.baton;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rules that the sources of all modules, tests included, must keep. */
class SourceRulesTest {
  private static final Pattern TEST_METHOD =
      Pattern.compile("@(Test|ParameterizedTest|RepeatedTest|TestFactory|ArchTest)\\b");
  private static final Pattern SLEEP =
      Pattern.compile("\\b(Thread|SECONDS|MILLISECONDS)\\.sleep\\(");

  private List<Source> tests = List.of();

  private record Source(Path file, String text) {
    String name() {
      return file.getFileName().toString();
    }
  }

  @BeforeEach
  void readTests() throws IOException {
    Path root = Path.of("..").toRealPath();
    assertTrue(Files.exists(root.resolve("pom.xml")), "run from the folder of a module: " + root);
    try (Stream<Path> modules = Files.list(root)) {
      List<Path> folders =
          modules
              .map(module -> module.resolve("src/test/java"))
              .filter(Files::isDirectory)
              .toList();
      tests = folders.stream().flatMap(SourceRulesTest::sources).toList();
    }
    assertTrue(tests.size() > 5, "found only " + tests);
  }

  /** The build runs classes by these names only; another one would be skipped in silence. */
  @Test
  void namesOfTestClassesEndInTestOrIT() {
    assertNone(source ->
        TEST_METHOD.matcher(source.text()).find()
            && !source.text().contains(" abstract class ")
            && !source.text().contains("\nabstract class ")
            && !source.name().endsWith("Test.java")
            && !source.name().endsWith("IT.java"));
  }

  @Test
  void testsDoNotSleep() {
    assertNone(source -> SLEEP.matcher(source.text()).find());
  }

  private void assertNone(Predicate<Source> broken) {
    Path self = Path.of("SourceRulesTest.java");
    assertEquals(
        List.of(),
        tests.stream()
            .filter(broken)
            .map(Source::file)
            .filter(file -> !file.endsWith(self))
            .toList());
  }

  private static Stream<Source> sources(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      List<Path> java = files.filter(file -> file.toString().endsWith(".java")).toList();
      return java.stream().map(SourceRulesTest::read);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static Source read(Path file) {
    try {
      return new Source(file, Files.readString(file));
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
