package dev.baton.chaos.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.chaos.environment.Ability;
import dev.baton.chaos.nemesis.Fault;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ScenarioTest {
  private static final Set<Ability> ALL = EnumSet.allOf(Ability.class);

  private static List<String> faults(Scenario scenario, long seed, Set<Ability> abilities) {
    Random random = new Random(seed);
    List<String> names = new ArrayList<>();
    for (int round = 1; round <= 40; round++) {
      names.add(scenario.course().fault(round, random, abilities).name());
    }
    return names;
  }

  @Test
  void shouldHaveNamesOfTheirOwn() {
    Set<String> names = new HashSet<>();
    Scenario.all().forEach(scenario -> assertTrue(names.add(scenario.name()), scenario.name()));
    assertTrue(Scenario.find("smoke").isPresent());
    assertTrue(Scenario.find("nothing").isEmpty());
  }

  /** What a fault needs must have been prepared before the start. */
  @Test
  void shouldWantWhatTheirFaultsNeed() {
    for (Scenario scenario : Scenario.all()) {
      Random random = new Random(1);
      for (int round = 1; round <= 40; round++) {
        Fault fault = scenario.course().fault(round, random, ALL);
        assertTrue(
            scenario.wanted().containsAll(fault.needs()), scenario.name() + ": " + fault.name());
      }
    }
  }

  @Test
  void shouldDrawTheSameFaultsFromTheSameSeed() {
    Scenario mixed = Scenario.find("mixed").orElseThrow();
    assertEquals(faults(mixed, 3, ALL), faults(mixed, 3, ALL));
    assertTrue(new HashSet<>(faults(mixed, 3, ALL)).size() > 15);
  }

  @Test
  void shouldMixOnlyWhatAnEnvironmentCanDo() {
    Scenario mixed = Scenario.find("mixed").orElseThrow();
    for (String fault : faults(mixed, 3, EnumSet.of(Ability.SIGNALS))) {
      assertTrue(!fault.contains("partition"), fault);
    }
  }
}
