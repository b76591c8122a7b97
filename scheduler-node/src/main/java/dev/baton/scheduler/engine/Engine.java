package dev.baton.scheduler.engine;

import dev.baton.scheduler.engine.Planner.Choice;
import dev.baton.scheduler.model.AttemptRef;
import dev.baton.scheduler.model.WorkerLife;

/**
 * Decides: reads the durable state and the presence of workers, changes only the latter, and gives
 * back events and effects. An exception changes nothing.
 */
public final class Engine {
  private final ClusterState state;
  private final Fleet fleet;
  private final Planner planner;
  private final RunRules runs;
  private final AttemptRules attempts;
  private final WorkerRules workers;

  public Engine(ClusterState state, Fleet fleet) {
    this.state = state;
    this.fleet = fleet;
    this.planner = new Planner(state, fleet);
    this.runs = new RunRules(state, fleet);
    this.attempts = new AttemptRules(state, fleet);
    this.workers = new WorkerRules(state, fleet, attempts);
  }

  /**
   * When, and where in the journal, a command is decided.
   *
   * @param now journal time, ms
   * @param nextNumber what the first event of the decision is called if it creates something:
   *     {@code seq << 16 | index}
   */
  public record Moment(long now, long nextNumber) {}

  public ClusterState state() {
    return state;
  }

  public Fleet fleet() {
    return fleet;
  }

  public Decision decide(Command command, Moment moment) {
    return switch (command) {
      case Command.OpenTerm(String nodeId) -> Decision.of(new Event.TermOpened(nodeId));
      case Command.Submit submit -> runs.submit(submit, moment);
      case Command.Cancel cancel -> runs.cancel(cancel);
      case Command.TimeOutRun(long run) -> runs.timeOut(run);
      case Command.Retire(long run, int parts) -> runs.retire(run, parts);
      case Command.DropSpec(long number) -> runs.dropSpec(number);
      case Command.DropHistory(long seq) ->
          seq <= state.historyDropped()
              ? Decision.NOTHING
              : Decision.of(new Event.HistoryDropped(seq));
      case Command.InstallSnapshot(long seq) ->
          seq <= state.installedSnapshot()
              ? Decision.NOTHING
              : Decision.of(new Event.SnapshotInstalled(seq));
      case Command.AssignNext() -> assignNext(moment);
      case Command.TakeResult take -> attempts.takeResult(take);
      case Command.TakeReturn(var from, var name) -> attempts.takeReturn(from, name, moment);
      case Command.TakeCancelUnknown(var from, var name) -> attempts.takeCancelUnknown(from, name);
      case Command.FailInputs(AttemptRef attempt, String reason) ->
          attempts.failInputs(attempt, reason);
      case Command.TimeOutAttempt(AttemptRef attempt) -> attempts.timeOut(attempt);
      case Command.TakeInventory inventory -> workers.takeInventory(inventory, moment);
      case Command.Cordon cordon -> workers.cordon(cordon);
      case Command.Uncordon(var call, String workerId) -> workers.uncordon(call, workerId);
      case Command.LoseWorker(WorkerLife life, String reason) -> workers.lose(life, reason);
    };
  }

  private Decision assignNext(Moment moment) {
    state.ready().promote(moment.now());
    Choice choice = planner.next(moment.now());
    if (choice == null) {
      return Decision.NOTHING;
    }
    Run run = state.run(choice.task().run());
    if (run == null) {
      throw new IllegalStateException("Expected a live run for " + choice.task());
    }
    WorkerLife life = choice.worker().life();
    int task = choice.task().task();
    AttemptRef attempt = new AttemptRef(run.number(), task, run.task(task).lastNumber() + 1);
    Draft draft = new Draft();
    draft.add(new Event.AttemptAssigned(attempt, draft.refOf(life, state.workers())));
    draft.add(new Effect.SendAssign(life, attempt));
    return draft.decision();
  }
}
