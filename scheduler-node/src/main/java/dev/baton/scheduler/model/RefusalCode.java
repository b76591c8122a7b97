package dev.baton.scheduler.model;

/** Why a call is refused; the names are those of the users' API and never change. */
public enum RefusalCode {
  INVALID_DEFINITION,
  INVALID_PARAMETER,
  INVALID_REQUEST,
  TOO_LARGE,
  KEY_CONFLICT,
  RUN_NOT_FOUND,
  TASK_NOT_FOUND,
  NO_OUTPUT,
  EXPIRED,
  NO_WORKER,
  OVERLOADED,
  STORE_FULL,
  NO_LEADER,
  NOT_READY,
  INTERNAL,
  WORKER_NOT_FOUND
}
