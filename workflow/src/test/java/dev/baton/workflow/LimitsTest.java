package dev.baton.workflow;

import static dev.baton.workflow.Definitions.accepted;
import static dev.baton.workflow.Definitions.report;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Base64;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Each limit at its edge: the last value that is accepted, and the first that is not. */
class LimitsTest {
  @Test
  void shouldLimitTheText() {
    String task = "name: x\ntasks: [{id: a, type: t}]\n#";
    String rest = "x".repeat(Limits.TEXT_BYTES - task.length());

    accepted(task + rest);
    assertTrue(
        report(task + rest + "x")
            .contains("1,048,577 bytes, more than the limit of 1 MiB; split the workflow"));
    assertTrue(report(task + "ä".repeat(Limits.TEXT_BYTES / 2)).contains("the limit of 1 MiB"));
  }

  @Test
  void shouldLimitTasks() {
    String task = "- {id: t#, type: t}\n";

    assertEquals(Limits.TASKS, accepted(list(Limits.TASKS, task)).tasks().size());
    assertTrue(
        report(list(Limits.TASKS + 1, task))
            .contains("there are 10,001 tasks, more than the limit of 10,000; split the workflow"));
  }

  @Test
  void shouldLimitDependencies() {
    StringBuilder ids = new StringBuilder();
    for (int i = 0; i < 1_000; i++) {
      ids.append(i == 0 ? "" : ",").append('f').append(i);
    }
    StringBuilder text = new StringBuilder("name: x\ntasks:\n");
    for (int i = 0; i < 1_000; i++) {
      text.append("- {id: f").append(i).append(", type: t}\n");
    }
    for (int i = 0; i < 100; i++) {
      text.append("- {id: g")
          .append(i)
          .append(", type: t, dependsOn: [")
          .append(ids)
          .append("]}\n");
    }

    accepted(text.toString());
    text.append("- {id: last, type: t, dependsOn: [f0]}\n");
    assertTrue(
        report(text.toString())
            .contains(
                "tasks[1100].dependsOn (line 1103, column 3): here the workflow comes to more"
                    + " dependencies than the limit of 100,000"));
  }

  @Test
  void shouldLimitParamsOfATask() {
    String text = "name: x\ntasks: [{id: a, type: t, params: {p: '%s'}}]";
    String fits = "x".repeat(Limits.PARAMS_BYTES - 3);

    accepted(text.formatted(fits));
    assertTrue(
        report(text.formatted(fits + "x"))
            .contains("the params have 262,145 bytes, more than the limit of 256 KiB for a task"));
    StringBuilder many = new StringBuilder();
    for (int i = 0; i <= Limits.PARAMS; i++) {
      many.append("p").append(i).append(": 1, ");
    }
    assertTrue(
        report("name: x\ntasks: [{id: a, type: t, params: {" + many + "}}]")
            .contains("there are 257 params, more than the limit of 256"));
  }

  @Test
  void shouldLimitTheCompressedForm() {
    byte[] noise = new byte[30_000];
    new Random(1).nextBytes(noise);
    StringBuilder text = new StringBuilder("name: x\ntasks:\n");
    for (int i = 0; i < 20; i++) {
      noise[i]++;
      new Random(i).nextBytes(noise);
      text.append("- {id: t").append(i).append(", type: t, params: {p: '");
      text.append(Base64.getEncoder().encodeToString(noise)).append("'}}\n");
    }

    assertTrue(
        report(text.toString()).contains("bytes when compressed, more than the limit of 400 KiB"));
  }

  @Test
  void shouldLimitTheCanonicalForm() {
    // A name alone is null in YAML, so it grows by the word.
    String object = "{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z}";
    String task = "- {id: t#, type: t, params: {p: [" + (object + ",").repeat(990) + "]}}\n";
    String text = list(19, task);

    assertTrue(report(text).contains("bytes, more than the limit of 4 MiB; split the workflow"));
  }

  @Test
  void shouldLimitRunParameters() {
    Workflow workflow = accepted("name: x\nparams: {p: }\ntasks: [{id: a, type: t}]");
    String fits = "\"" + "x".repeat(Limits.PARAMS_BYTES - 8) + "\"";

    assertEquals(Limits.PARAMS_BYTES, accepted(workflow.bind(Map.of("p", fits))).length());
    assertTrue(
        ((Judged.Refused<String>) workflow.bind(Map.of("p", fits.replaceFirst("x", "xx"))))
            .report()
            .contains(
                "the parameters have 262,145 bytes together, more than the limit of 256 KiB"));
  }

  @Test
  void shouldLimitCalculations() {
    StringBuilder list = new StringBuilder();
    for (int i = 0; i < Limits.CALCULATIONS; i++) {
      list.append("'${{ 1+").append(i).append(" }}',");
    }
    String text = "name: x\ntasks: [{id: a, type: t, params: {p: [%s]}}]";

    accepted(text.formatted(list));
    assertTrue(
        report(text.formatted(list + "'${{ 1 - 1 }}'"))
            .contains("more different calculations than the limit of 10,000"));
  }

  private static String list(int tasks, String task) {
    StringBuilder text = new StringBuilder("name: x\ntasks:\n");
    for (int i = 0; i < tasks; i++) {
      text.append(task.replace("#", Integer.toString(i)));
    }
    return text.toString();
  }
}
