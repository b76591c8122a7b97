package dev.baton.workflow;

import static dev.baton.workflow.Definitions.accepted;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

class RunParametersTest {
  private static final Workflow WORKFLOW =
      accepted("name: x\nparams: {region: , limit: 10, any: {a: [1]}}\ntasks: [{id: a, type: t}]");

  @Test
  void shouldFillInDefaultsInOrder() {
    assertEquals(
        "{\"any\":{\"a\":[1]},\"limit\":10,\"region\":\"eu\"}",
        accepted(WORKFLOW.bind(Map.of("region", "\"eu\""))));
    assertEquals(
        "{\"any\":null,\"limit\":1.50,\"region\":[1,{}]}",
        accepted(WORKFLOW.bind(Map.of("region", " [ 1 , { } ] ", "limit", "1.50", "any", "null"))));
    assertEquals("{}", accepted(accepted("name: x\ntasks: [{id: a, type: t}]").bind(Map.of())));
  }

  @Test
  void shouldKeepGivenTextsAsTheyAre() {
    assertEquals(
        "{\"any\":\"${{ params.region }}\",\"limit\":10,\"region\":\"\"}",
        accepted(WORKFLOW.bind(Map.of("region", "\"\"", "any", "\"${{ params.region }}\""))));
  }

  @Test
  void shouldRefuse() {
    assertRefuses(Map.of(), "params.region: the run needs a value for it, since it has no default");
    assertRefuses(
        Map.of("region", "1", "limt", "2"),
        "params.limt: the workflow has no parameter 'limt'; did you mean 'limit'?");
    assertRefuses(
        Map.of("region", "1", "zzz", "2"), "the workflow has no parameter 'zzz'; it has any, ");
    assertRefuses(Map.of("region", "eu"), "params.region: 'eu' is not JSON (");
    assertRefuses(Map.of("region", ""), "'' is not JSON (");
    assertRefuses(Map.of("region", "1 2"), "put a text in double quotes");
    assertRefuses(Map.of("region", "{\"a\":1,\"a\":2}"), "the field 'a' stands here twice");
    assertRefuses(Map.of("region", "[".repeat(100)), "more than 64 deep");
    assertRefuses(Map.of("region", "\"\\ud800\""), "the text holds half of a surrogate pair");
  }

  private static void assertRefuses(Map<String, String> given, String sentence) {
    Judged.Refused<?> refused =
        assertInstanceOf(Judged.Refused.class, WORKFLOW.bind(given), given::toString);
    assertTrue(
        refused.report().contains(sentence),
        () -> "Expected " + sentence + " in " + refused.report());
  }
}
