package dev.baton.scheduler.engine;

import dev.baton.scheduler.model.AttemptName;
import dev.baton.scheduler.model.Limits;
import dev.baton.scheduler.model.WorkerLife;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The presence of workers as this node sees it: who is registered, whose stream is open, who
 * answers. Soft: nothing of it is recorded, and a new leader builds its own. All times are journal
 * time in ms.
 */
public final class Fleet {
  /** The capability that stands for every type but {@link #SHELL}. */
  static final String ANY = "*";

  /** The type that a worker must name. */
  static final String SHELL = "shell";

  private static final long FULL_MS = 100;
  private static final long LONGEST_FULL_MS = 5_000;

  private final Map<String, Registration> registered = new TreeMap<>();
  private final Map<WorkerLife, Presence> presences = new HashMap<>();
  private final TreeSet<String> capabilities = new TreeSet<>();
  private long termOpenedAt;
  private boolean listed;

  /** What a worker's key in etcd says. */
  public record Registration(
      WorkerLife life,
      Set<String> capabilities,
      int slots,
      Map<String, String> labels,
      String address,
      String version,
      long createRevision) {
    public Registration {
      capabilities = Set.copyOf(capabilities);
      labels = Map.copyOf(labels);
    }

    /** {@code *} stands for every type but shell, which must be named. */
    public boolean offers(String type) {
      return covers(capabilities, type);
    }
  }

  /** How far a worker can be counted on. */
  public enum Standing {
    /** Registered and heard of: may get work. */
    CONNECTED,
    /** Registered, but without a stream or silent. */
    SUSPECT,
    /** Heard of, but not registered. */
    UNREGISTERED,
    /** What it was running is to be given up. */
    LOST,
    /** Neither registered nor heard of, but the term is too young to tell, or has no list yet. */
    UNKNOWN
  }

  private static final class Presence {
    int streams;
    long heardAt;
    long silentSince;
    long fullUntil;
    int timesFull;
    boolean provenGone;
    final Set<AttemptName> foreign = new HashSet<>();
  }

  /**
   * Forgets every inventory and silence; registry and streams stay. Called when a term opens, and
   * before the registered workers are listed again.
   */
  public void openTerm(long now) {
    termOpenedAt = now;
    listed = false;
    for (Presence presence : presences.values()) {
      presence.foreign.clear();
      hasRoom(presence);
      presence.heardAt = now;
      presence.silentSince = now;
    }
  }

  public void register(Registration registration) {
    registered.put(registration.life().workerId(), registration);
    findCapabilities();
  }

  public void unregister(String workerId) {
    registered.remove(workerId);
    findCapabilities();
  }

  /** All that is registered has been told since the term opened. */
  public void listed() {
    listed = true;
  }

  private void findCapabilities() {
    capabilities.clear();
    registered.values().forEach(worker -> capabilities.addAll(worker.capabilities()));
  }

  /** What any registered worker can do, {@link #ANY} among it. */
  Set<String> capabilities() {
    return capabilities;
  }

  public void streamOpened(WorkerLife life, long now) {
    Presence presence = presences.computeIfAbsent(life, l -> new Presence());
    presence.streams++;
    presence.provenGone = false;
    presence.heardAt = now;
  }

  public void streamClosed(WorkerLife life, long now) {
    Presence presence = presences.get(life);
    if (presence == null) {
      return;
    }
    presence.streams--;
    if (presence.streams <= 0) {
      presence.silentSince = now;
      presence.foreign.clear();
    }
  }

  /** Its process is known to be gone, unless it opens a stream again. */
  public void provenGone(WorkerLife life) {
    Presence presence = presences.get(life);
    if (presence != null && presence.streams <= 0) {
      presence.provenGone = true;
    }
  }

  public boolean isProvenGone(WorkerLife life) {
    Presence presence = presences.get(life);
    return presence != null && presence.provenGone;
  }

  public boolean isConnected(WorkerLife life) {
    Presence presence = presences.get(life);
    return presence != null && presence.streams > 0;
  }

  public void heard(WorkerLife life, long now) {
    Presence presence = presences.get(life);
    if (presence != null) {
      presence.heardAt = now;
    }
  }

  /** By its inventory it is busy with exactly these besides what the state gave it. */
  void holds(WorkerLife life, Collection<AttemptName> foreign) {
    Presence presence = presences.get(life);
    if (presence != null) {
      presence.foreign.clear();
      presence.foreign.addAll(foreign);
      hasRoom(presence);
    }
  }

  /**
   * It may still be busy with an attempt that the state gave up: the slot is used until it says.
   */
  void lingers(WorkerLife life, AttemptName foreign) {
    Presence presence = presences.get(life);
    if (presence != null && presence.streams > 0) {
      presence.foreign.add(foreign);
    }
  }

  void gone(WorkerLife life, AttemptName foreign) {
    Presence presence = presences.get(life);
    if (presence != null) {
      presence.foreign.remove(foreign);
    }
  }

  /**
   * It had no room although we thought so: nothing new for a moment, and for a longer one each time
   * it turns out so again, until it says what it holds or hands over a result.
   */
  void full(WorkerLife life, long now) {
    Presence presence = presences.get(life);
    if (presence != null && now >= presence.fullUntil) {
      presence.fullUntil = now + Math.min(LONGEST_FULL_MS, FULL_MS << presence.timesFull);
      presence.timesFull = Math.min(10, presence.timesFull + 1);
    }
  }

  /** It has room again, as far as we know. */
  private static void hasRoom(Presence presence) {
    presence.timesFull = 0;
    presence.fullUntil = 0;
  }

  /** It hands over a result: that frees a slot. */
  void freed(WorkerLife life, AttemptName name) {
    Presence presence = presences.get(life);
    if (presence != null) {
      presence.foreign.remove(name);
      hasRoom(presence);
    }
  }

  /** Forgets lives that are neither registered, nor connected, nor busy. */
  public void forgetGone(WorkerRefs refs) {
    presences
        .entrySet()
        .removeIf(e ->
            e.getValue().streams <= 0
                && !isRegistered(e.getKey())
                && refs.runningCount(e.getKey()) == 0);
  }

  public Collection<Registration> registrations() {
    return Collections.unmodifiableCollection(registered.values());
  }

  public @Nullable Registration registration(String workerId) {
    return registered.get(workerId);
  }

  public boolean isRegistered(WorkerLife life) {
    Registration registration = registered.get(life.workerId());
    return registration != null && registration.life().equals(life);
  }

  /** All lives with an open stream. */
  public List<WorkerLife> connected() {
    List<WorkerLife> lives = new ArrayList<>();
    presences.forEach((life, presence) -> {
      if (presence.streams > 0) {
        lives.add(life);
      }
    });
    return lives;
  }

  public Standing standing(WorkerLife life, long now) {
    Presence presence = presences.get(life);
    if (presence != null && presence.provenGone) {
      return Standing.LOST;
    }
    long silentSince = silentSince(presence, now);
    boolean suspect = silentSince != NEVER;
    boolean isRegistered = isRegistered(life);
    if (!suspect) {
      return isRegistered ? Standing.CONNECTED : Standing.UNREGISTERED;
    }
    long since = Math.max(silentSince, termOpenedAt);
    boolean young = now - termOpenedAt < Limits.INVENTORY_GRACE.toMillis();
    if (young || (!isRegistered && !listed)) {
      return isRegistered ? Standing.SUSPECT : Standing.UNKNOWN;
    }
    if (!isRegistered || now - since >= Limits.LOST_AFTER.toMillis()) {
      return Standing.LOST;
    }
    return Standing.SUSPECT;
  }

  /** Slots taken by what the state gave it, and by what it holds besides. */
  public int used(WorkerLife life, WorkerRefs refs) {
    Presence presence = presences.get(life);
    return refs.runningCount(life) + (presence == null ? 0 : presence.foreign.size());
  }

  boolean isFull(WorkerLife life, long now) {
    Presence presence = presences.get(life);
    return presence != null && now < presence.fullUntil;
  }

  /** Whether any registered worker offers this type. */
  public boolean isOffered(String type) {
    return covers(capabilities, type);
  }

  private static boolean covers(Set<String> capabilities, String type) {
    return capabilities.contains(type) || (capabilities.contains(ANY) && !type.equals(SHELL));
  }

  private static final long NEVER = Long.MIN_VALUE;

  private static long silentSince(@Nullable Presence presence, long now) {
    if (presence == null) {
      return 0;
    }
    if (presence.streams <= 0) {
      return presence.silentSince;
    }
    return now - presence.heardAt < Limits.SUSPECT_AFTER.toMillis()
        ? NEVER
        : presence.heardAt + Limits.SUSPECT_AFTER.toMillis();
  }
}
