package dev.baton.scheduler.api;

import com.google.protobuf.ByteString;
import dev.baton.proto.v1.SubmitRunRequest;
import dev.baton.scheduler.loop.Submission;
import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import dev.baton.scheduler.model.SpecHash;
import dev.baton.workflow.Canonical;
import dev.baton.workflow.Judged;
import dev.baton.workflow.Limits;
import dev.baton.workflow.Workflow;
import dev.baton.workflow.WorkflowReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * From a request to what the loop takes: ids, keys and labels are checked, the definition is
 * judged, parameters are bound. Definitions that came before are remembered by their text, up to a
 * bound. Any thread.
 */
final class Submissions {
  private static final Pattern KEY = Pattern.compile("[A-Za-z0-9._-]{1,128}");
  private static final Pattern TENANT = Pattern.compile("[a-z0-9-]{1,63}");
  private static final Pattern LABEL = Pattern.compile("[A-Za-z0-9._/-]{1,63}");
  private static final int MAX_LABELS = 16;
  private static final int MAX_LABEL_CHARS = 128;
  private static final int MAX_ACTOR_CHARS = 128;
  private static final int REMEMBERED = 64;
  private static final int REMEMBERED_CHARS = 256 << 10;

  private final WorkflowReader reader;
  private final Map<String, Submission.Definition> remembered =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Submission.Definition> eldest) {
          return size() > REMEMBERED;
        }
      };

  Submissions(WorkflowReader reader) {
    this.reader = reader;
  }

  /** The request's run id must be set. */
  Submission judge(SubmitRunRequest request) throws RefusedException {
    RunId id =
        RunId.parse(request.getRunId())
            .orElseThrow(
                () -> invalid("run_id", request.getRunId(), "a ULID of 26 characters, or nothing"));
    check("key", request.getKey(), KEY, "1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-'", true);
    check("tenant", request.getTenant(), TENANT, "1 to 63 of a-z, 0-9 and '-'", true);
    if (request.getActor().length() > MAX_ACTOR_CHARS) {
      throw invalid("actor", request.getActor(), "at most " + MAX_ACTOR_CHARS + " characters");
    }
    checkLabels(request.getLabelsMap());
    checkSizes(request);
    Submission.Definition definition = definition(request.getDefinition());
    String params = bind(definition.workflow(), request.getParamsMap());
    return new Submission(
        id,
        definition,
        request.getTenant().isEmpty() ? "default" : request.getTenant(),
        request.getLabelsMap(),
        request.getActor(),
        request.getKey(),
        params,
        bodyHash(definition.hash(), params, request.getLabelsMap()),
        request.getRequireWorkers());
  }

  /** Before anything is parsed. */
  private static void checkSizes(SubmitRunRequest request) throws RefusedException {
    int definition = request.getDefinitionBytes().size();
    if (definition > Limits.TEXT_BYTES) {
      throw new RefusedException(
          RefusalCode.TOO_LARGE,
          "The definition has "
              + definition
              + " bytes and the limit is "
              + Limits.TEXT_BYTES
              + ": split the workflow, or give its data as files.");
    }
    long params =
        request.getParamsMap().values().stream()
            .mapToLong(json -> ByteString.copyFromUtf8(json).size())
            .sum();
    if (params > Limits.PARAMS_BYTES) {
      throw new RefusedException(
          RefusalCode.TOO_LARGE,
          "The parameters have "
              + params
              + " bytes together and the limit is "
              + Limits.PARAMS_BYTES
              + ": give the place of the data instead.");
    }
  }

  private static void check(
      String field, String value, Pattern pattern, String expected, boolean mayBeEmpty)
      throws RefusedException {
    if (!(value.isEmpty() && mayBeEmpty) && !pattern.matcher(value).matches()) {
      throw invalid(field, value, expected);
    }
  }

  private static RefusedException invalid(String field, String value, String expected) {
    String shown = value.length() <= 64 ? value : value.substring(0, 64) + "…";
    return new RefusedException(
        RefusalCode.INVALID_REQUEST,
        "Expected " + field + " to be " + expected + ", but got '" + shown + "'.");
  }

  private static void checkLabels(Map<String, String> labels) throws RefusedException {
    if (labels.size() > MAX_LABELS) {
      throw new RefusedException(
          RefusalCode.INVALID_REQUEST,
          "Expected at most " + MAX_LABELS + " labels, but got " + labels.size() + ".");
    }
    for (Map.Entry<String, String> label : labels.entrySet()) {
      check(
          "the name of a label",
          label.getKey(),
          LABEL,
          "1 to 63 of A-Z, a-z, 0-9, '.', '_', '/' and '-'",
          false);
      if (label.getValue().length() > MAX_LABEL_CHARS) {
        throw invalid(
            "label " + label.getKey(),
            label.getValue(),
            "at most " + MAX_LABEL_CHARS + " characters");
      }
    }
  }

  private Submission.Definition definition(String text) throws RefusedException {
    synchronized (remembered) {
      Submission.Definition known = remembered.get(text);
      if (known != null) {
        return known;
      }
    }
    Submission.Definition judged =
        switch (reader.read(text)) {
          case Judged.Accepted<Workflow>(Workflow workflow) -> stored(workflow);
          case Judged.Refused<Workflow> refused ->
              throw new RefusedException(RefusalCode.INVALID_DEFINITION, refused.report());
        };
    if (text.length() <= REMEMBERED_CHARS) {
      synchronized (remembered) {
        remembered.put(text, judged);
      }
    }
    return judged;
  }

  private static Submission.Definition stored(Workflow workflow) {
    Canonical canonical = Canonical.of(workflow);
    return new Submission.Definition(
        workflow, SpecHash.of(canonical.hash()), ByteString.copyFrom(canonical.compressed()));
  }

  private static String bind(Workflow workflow, Map<String, String> given) throws RefusedException {
    return switch (workflow.bind(given)) {
      case Judged.Accepted<String>(String json) -> json.equals("{}") ? "" : json;
      case Judged.Refused<String> refused ->
          throw new RefusedException(RefusalCode.INVALID_PARAMETER, refused.report());
    };
  }

  /** The first 8 bytes of a SHA-256 over what makes two submissions the same. */
  private static long bodyHash(SpecHash definition, String params, Map<String, String> labels) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(definition.bytes());
      digest.update(params.getBytes(StandardCharsets.UTF_8));
      new TreeMap<>(labels)
          .forEach((name, value) -> {
            digest.update((byte) 0);
            digest.update(name.getBytes(StandardCharsets.UTF_8));
            digest.update((byte) '=');
            digest.update(value.getBytes(StandardCharsets.UTF_8));
          });
      return ByteBuffer.wrap(digest.digest()).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Expected every JDK to have SHA-256", e);
    }
  }
}
