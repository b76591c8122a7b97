package dev.baton.cli.conformance;

/** What a worker must do; in the order in which it is checked. */
public enum Rule {
  REGISTERS("calls Register with its id, an incarnation, types and slots"),
  OPENS_A_STREAM_TO_EACH_NODE("keeps a stream to each node that the answer names"),
  SAYS_HELLO_FIRST("says in the first message of each stream who it is"),
  ANSWERS_PINGS("answers each ping with a pong of its nonce"),
  SENDS_HEARTBEATS("renews its registration as often as it was told"),
  TELLS_WHAT_IT_HOLDS("answers a new leader's greeting with its inventory"),
  RUNS_WHAT_IT_GETS("runs an assignment, and names the attempt in its result"),
  KEEPS_RESULTS("says a result again until it is acknowledged"),
  FORGETS_WHAT_IS_ACKNOWLEDGED("forgets a result that is acknowledged, whose slot is free then"),
  RUNS_NO_COPY("runs an assignment that comes twice once"),
  DROPS_OTHER_INCARNATIONS("drops what is said to another incarnation"),
  DROPS_OTHER_GENERATIONS("drops what is said in another generation"),
  DROPS_OLDER_TERMS("drops what is said in an older term"),
  DROPS_A_SECOND_LEADER("drops what another node says in the same term"),
  RETURNS_WHAT_HAS_NO_SLOT("returns an assignment for which no slot is free, and tells so again"),
  NEVER_STARTS_WHAT_IT_RETURNED("never starts what it returned, once that is acknowledged"),
  STOPS_WHAT_IS_CANCELLED("stops an attempt that is cancelled, and says so"),
  NEVER_STARTS_WHAT_WAS_CANCELLED("never starts an attempt whose cancel came first"),
  ENFORCES_TIMEOUTS("ends an attempt at its timeout"),
  FAILS_WHAT_IT_CANNOT_RUN("makes a failure of the attempt of a type that it does not offer"),
  OBEYS_A_NEW_LEADER("obeys a higher term, and from then on only that"),
  OPENS_A_BROKEN_STREAM_AGAIN("opens a stream again, and has lost nothing"),
  ASKS_ANOTHER_NODE("renews at another node when one can't answer"),
  REGISTERS_AGAIN("registers again when it is told that it is not, and goes on with what runs"),
  OPENS_STREAMS_ANEW("opens its streams anew under a new registration"),
  STARTS_NOTHING_PAST_ITS_LEASE("starts nothing once its registration may have ended"),
  DRAINS("when drained, returns what is new, ends what runs, deregisters, and exits with 0");

  private final String text;

  Rule(String text) {
    this.text = text;
  }

  /** What follows "The worker ". */
  public String text() {
    return text;
  }
}
