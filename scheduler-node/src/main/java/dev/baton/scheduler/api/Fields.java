package dev.baton.scheduler.api;

import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;
import java.util.regex.Pattern;

/** Checks of what stands in the fields of a request. */
final class Fields {
  private static final int SHOWN = 40;
  private static final Pattern WORKER_ID = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  private Fields() {}

  static RunId runId(String text) throws RefusedException {
    return RunId.parse(text)
        .orElseThrow(() ->
            new RefusedException(
                RefusalCode.INVALID_REQUEST,
                "Expected a run id, a ULID of 26 characters, but got '" + shortened(text) + "'."));
  }

  /** As workers name themselves and their process lives. */
  static void workerId(String field, String text) throws RefusedException {
    if (!WORKER_ID.matcher(text).matches()) {
      throw new RefusedException(
          RefusalCode.INVALID_REQUEST,
          "Expected "
              + field
              + " to be 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-', but got '"
              + shortened(text)
              + "'.");
    }
  }

  static void limit(String field, String value, int characters) throws RefusedException {
    if (value.length() > characters) {
      throw new RefusedException(
          RefusalCode.INVALID_REQUEST,
          "Expected "
              + field
              + " to have at most "
              + characters
              + " characters, but it has "
              + value.length()
              + ".");
    }
  }

  /** As much of a value as a message can show. */
  static String shortened(String text) {
    return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
  }
}
