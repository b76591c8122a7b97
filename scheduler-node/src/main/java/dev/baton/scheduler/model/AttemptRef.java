package dev.baton.scheduler.model;

/**
 * One try of a task.
 *
 * @param run number of the run
 * @param task index in the workflow
 * @param attempt from 1
 */
public record AttemptRef(long run, int task, int attempt) {}
