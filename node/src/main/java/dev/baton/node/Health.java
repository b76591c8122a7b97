package dev.baton.node;

import java.util.LinkedHashMap;
import java.util.Map;

/** Whether a process is well, or ready, and what it says about it. */
public record Health(boolean ok, Map<String, ?> details) {
  public Health {
    details = Map.copyOf(details);
  }

  /** 200 or 503, with {@code ok} before the details. */
  public Reply reply() {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("ok", ok);
    details.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(entry -> body.put(entry.getKey(), entry.getValue()));
    return Reply.json(ok ? 200 : 503, body);
  }
}
