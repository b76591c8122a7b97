package dev.baton.scheduler.api;

import dev.baton.proto.v1.RegisterRequest;
import dev.baton.proto.v1.WorkerRecord;
import dev.baton.scheduler.model.RefusalCode;
import java.util.Map;

/** What a worker may register as. */
final class Registrations {
  private static final int MAX_SLOTS = 4_096;
  private static final int MAX_CAPABILITIES = 256;
  private static final int MAX_LABELS = 64;
  private static final int LABEL_CHARS = 128;
  private static final int HOST_CHARS = 253;
  private static final int VERSION_CHARS = 64;
  private static final int MAX_PORT = 65_535;

  private Registrations() {}

  static WorkerRecord judge(RegisterRequest request) throws RefusedException {
    Fields.workerId("worker_id", request.getWorkerId());
    Fields.workerId("incarnation", request.getIncarnation());
    Fields.limit("host", request.getHost(), HOST_CHARS);
    Fields.limit("version", request.getVersion(), VERSION_CHARS);
    between("port", request.getPort(), 0, MAX_PORT);
    between("max_concurrency", request.getMaxConcurrency(), 0, MAX_SLOTS);
    between("the number of capabilities", request.getCapabilitiesCount(), 1, MAX_CAPABILITIES);
    between("the number of labels", request.getLabelsCount(), 0, MAX_LABELS);
    if (request.getPort() > 0 && request.getHost().isBlank()) {
      throw new RefusedException(
          RefusalCode.INVALID_REQUEST, "Expected host to say where port is, but it is empty.");
    }
    for (String type : request.getCapabilitiesList()) {
      if (!type.equals("*")) {
        Fields.workerId("each capability", type);
      }
    }
    for (Map.Entry<String, String> label : request.getLabelsMap().entrySet()) {
      Fields.limit("the name of each label", label.getKey(), LABEL_CHARS);
      Fields.limit("the value of each label", label.getValue(), LABEL_CHARS);
    }
    return WorkerRecord.newBuilder()
        .setWorkerId(request.getWorkerId())
        .setIncarnation(request.getIncarnation())
        .setHost(request.getHost())
        .setPort(request.getPort())
        .addAllCapabilities(request.getCapabilitiesList())
        .putAllLabels(request.getLabelsMap())
        .setSlots(request.getMaxConcurrency())
        .setVersion(request.getVersion())
        .build();
  }

  /** Where its HTTP port is; empty: it has none. */
  static String address(WorkerRecord worker) {
    return worker.getPort() == 0 ? "" : worker.getHost() + ":" + worker.getPort();
  }

  private static void between(String what, int value, int least, int most) throws RefusedException {
    if (value < least || value > most) {
      throw new RefusedException(
          RefusalCode.INVALID_REQUEST,
          "Expected " + what + " to be " + least + " to " + most + ", but got " + value + ".");
    }
  }
}
