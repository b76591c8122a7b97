package dev.baton.scheduler.api;

import dev.baton.scheduler.model.RefusalCode;
import dev.baton.scheduler.model.RunId;

/** Checks of what stands in the fields of a request. */
final class Fields {
  private static final int SHOWN = 40;

  private Fields() {}

  static RunId runId(String text) throws RefusedException {
    return RunId.parse(text)
        .orElseThrow(() ->
            new RefusedException(
                RefusalCode.INVALID_REQUEST,
                "Expected a run id, a ULID of 26 characters, but got '" + shortened(text) + "'."));
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
