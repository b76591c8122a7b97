package dev.baton.scheduler.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.scheduler.loop.Submission;
import dev.baton.scheduler.model.Refusal;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.testing.Workflows;
import dev.baton.workflow.WorkflowReader;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Each malformed field gets its sentence. */
class SubmissionsTest {
  private final Submissions submissions = new Submissions(new WorkflowReader());

  private static SubmitRunRequest.Builder request() {
    return SubmitRunRequest.newBuilder()
        .setRunId(new RunId(1, 1).toString())
        .setDefinition("name: w\nparams: {count: 1, name:}\ntasks: [{id: a, type: echo}]")
        .putParams("name", "\"n\"");
  }

  private void assertRefused(RefusalCode code, String message, SubmitRunRequest.Builder request) {
    Refusal refusal =
        assertThrows(RefusedException.class, () -> submissions.judge(request.build())).refusal();
    assertEquals(code, refusal.code(), refusal::message);
    assertTrue(refusal.message().startsWith(message), refusal::message);
  }

  @Test
  void shouldNameTheFieldTheLimitAndWhatItGot() {
    assertRefused(
        RefusalCode.INVALID_REQUEST,
        "Expected run_id to be a ULID of 26 characters, or nothing, but got 'x'.",
        request().setRunId("x"));
    assertRefused(
        RefusalCode.INVALID_REQUEST,
        "Expected key to be 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-', but got 'no spaces'.",
        request().setKey("no spaces"));
    assertRefused(
        RefusalCode.INVALID_REQUEST,
        "Expected key to be 1 to 128 of",
        request().setKey("k".repeat(129)));
    assertRefused(
        RefusalCode.INVALID_REQUEST,
        "Expected tenant to be 1 to 63 of a-z, 0-9 and '-', but got 'Me'.",
        request().setTenant("Me"));
    assertRefused(
        RefusalCode.INVALID_REQUEST,
        "Expected actor to be at most 128 characters, but got 'aaa",
        request().setActor("a".repeat(129)));
    assertRefused(
        RefusalCode.INVALID_REQUEST,
        "Expected the name of a label to be 1 to 63 of",
        request().putLabels("", "x"));
    assertRefused(
        RefusalCode.INVALID_REQUEST,
        "Expected label team to be at most 128 characters, but got 'xxx",
        request().putLabels("team", "x".repeat(129)));
    SubmitRunRequest.Builder many = request();
    IntStream.range(0, 17).forEach(i -> many.putLabels("l" + i, ""));
    assertRefused(RefusalCode.INVALID_REQUEST, "Expected at most 16 labels, but got 17.", many);
  }

  @Test
  void shouldJudgeDefinitionsAndParameters() {
    assertRefused(RefusalCode.INVALID_DEFINITION, "", request().setDefinition("tasks: ["));
    assertRefused(
        RefusalCode.INVALID_DEFINITION, "", request().setDefinition("name: w\ntasks: []"));
    assertRefused(RefusalCode.INVALID_PARAMETER, "", request().putParams("other", "1"));
    assertRefused(RefusalCode.INVALID_PARAMETER, "", request().putParams("name", "no json"));
    assertRefused(RefusalCode.INVALID_PARAMETER, "", request().clearParams());
  }

  @Test
  void shouldRefuseWhatIsTooLargeBeforeItIsParsed() {
    assertRefused(
        RefusalCode.TOO_LARGE,
        "The definition has 1048577 bytes and the limit is 1048576: ",
        request().setDefinition("#".repeat((1 << 20) + 1)));
    assertRefused(
        RefusalCode.TOO_LARGE,
        "The parameters have 262147 bytes together and the limit is 262144: ",
        request().putParams("name", "\"" + "é".repeat(131_072) + "\"").putParams("count", "1"));
  }

  @Test
  void shouldBindParametersAndHashWhatMakesTwoRequestsTheSame() throws RefusedException {
    Submission one = submissions.judge(request().build());
    assertEquals("default", one.tenant());
    assertEquals("{\"count\":1,\"name\":\"n\"}", one.paramsJson());
    Submission same =
        submissions.judge(
            request()
                .setRunId(new RunId(2, 2).toString())
                .putParams("count", " 1 ")
                .setActor("somebody")
                .build());
    assertEquals(one.bodyHash(), same.bodyHash());
    assertSame(one.definition(), same.definition(), "the text is remembered");
    assertNotEquals(
        one.bodyHash(), submissions.judge(request().putParams("count", "2").build()).bodyHash());
    assertNotEquals(
        one.bodyHash(), submissions.judge(request().putLabels("a", "b").build()).bodyHash());
    assertNotEquals(
        one.bodyHash(),
        submissions
            .judge(request().clearParams().setDefinition(Workflows.one("v")).build())
            .bodyHash());
  }
}
