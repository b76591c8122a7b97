package dev.baton.scheduler.api;

import dev.baton.proto.v1.ListWorkersResponse;
import dev.baton.proto.v1.Worker;
import dev.baton.proto.v1.Worker.Presence;
import dev.baton.scheduler.engine.Cordons;
import dev.baton.scheduler.engine.Event.WorkerCordoned;
import dev.baton.scheduler.engine.Fleet;
import dev.baton.scheduler.loop.ReadView;
import dev.baton.scheduler.loop.Role;
import dev.baton.scheduler.model.WorkerLife;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Workers as users see them. */
final class WorkerViews {
  private WorkerViews() {}

  static ListWorkersResponse list(ReadView view) {
    ListWorkersResponse.Builder answer = ListWorkersResponse.newBuilder().setSeq(view.seq());
    Cordons cordons = view.state().cordons();
    for (Fleet.Registration worker : view.fleet().registrations()) {
      answer.addWorkers(
          of(cordons.of(worker.life().workerId()))
              .setDraining(cordons.drains(worker.life()))
              .setWorkerId(worker.life().workerId())
              .setIncarnation(worker.life().incarnation())
              .setAddress(worker.address())
              .addAllCapabilities(worker.capabilities().stream().sorted().toList())
              .putAllLabels(worker.labels())
              .setSlots(worker.slots())
              .setSlotsUsed(view.fleet().used(worker.life(), view.state().workers()))
              .setVersion(worker.version())
              .setPresence(presence(view, worker.life())));
    }
    for (WorkerCordoned cordon : cordons.all()) {
      if (view.fleet().registration(cordon.workerId()) == null) {
        answer.addWorkers(of(cordon).setWorkerId(cordon.workerId()).setPresence(Presence.ABSENT));
      }
    }
    List<WorkerLife> unregistered =
        view.fleet().connected().stream()
            .filter(life -> !view.fleet().isRegistered(life))
            .sorted(Comparator.comparing(WorkerLife::toString))
            .toList();
    for (WorkerLife life : unregistered) {
      answer.addWorkers(
          Worker.newBuilder()
              .setWorkerId(life.workerId())
              .setIncarnation(life.incarnation())
              .setSlotsUsed(view.fleet().used(life, view.state().workers()))
              .setPresence(Presence.UNREGISTERED));
    }
    return answer.build();
  }

  private static Worker.Builder of(@Nullable WorkerCordoned cordon) {
    Worker.Builder worker = Worker.newBuilder();
    return cordon == null ? worker : worker.setCordoned(true).setCordonedBy(cordon.actor());
  }

  private static Presence presence(ReadView view, WorkerLife life) {
    if (view.role() != Role.LEADING) {
      return Presence.REGISTERED;
    }
    return switch (view.fleet().standing(life, view.now())) {
      case CONNECTED -> Presence.CONNECTED;
      case UNREGISTERED -> Presence.UNREGISTERED;
      case SUSPECT, LOST, UNKNOWN -> Presence.SUSPECT;
    };
  }
}
