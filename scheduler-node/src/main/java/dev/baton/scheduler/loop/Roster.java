package dev.baton.scheduler.loop;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.baton.coordination.Etcd.KeyValue;
import dev.baton.coordination.Registry;
import dev.baton.proto.v1.WorkerRecord;
import dev.baton.scheduler.engine.Fleet;
import dev.baton.scheduler.model.Limits;
import dev.baton.scheduler.model.WorkerLife;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings the folder {@code workers/} into the fleet. Runs on the loop's strand. */
final class Roster implements Registry.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(Roster.class);

  private final ByteString folder;
  private final Fleet fleet;
  private final Consumer<WorkerLife> registered;
  private final Runnable left;

  /**
   * @param folder prefix of the workers' keys
   * @param registered told of each registration
   * @param left told when one has gone
   */
  Roster(ByteString folder, Fleet fleet, Consumer<WorkerLife> registered, Runnable left) {
    this.folder = folder;
    this.fleet = fleet;
    this.registered = registered;
    this.left = left;
  }

  @Override
  public void onPut(KeyValue keyValue) {
    String id = idOf(keyValue.key());
    try {
      WorkerRecord record = WorkerRecord.parseFrom(keyValue.value());
      WorkerLife life = new WorkerLife(id, record.getIncarnation());
      fleet.register(
          new Fleet.Registration(
              life,
              Set.copyOf(record.getCapabilitiesList()),
              Math.clamp(record.getSlots(), 0, Limits.MAX_SLOTS),
              record.getLabelsMap(),
              record.getPort() == 0 ? "" : record.getHost() + ":" + record.getPort(),
              record.getVersion(),
              keyValue.createRevision()));
      registered.accept(life);
    } catch (InvalidProtocolBufferException e) {
      LOG.warn("The registration of worker {} is not readable and is ignored", id);
    }
  }

  @Override
  public void onDelete(ByteString key) {
    fleet.unregister(idOf(key));
    left.run();
  }

  @Override
  public void onListed() {
    fleet.listed();
  }

  private String idOf(ByteString key) {
    return key.substring(folder.size()).toStringUtf8();
  }
}
