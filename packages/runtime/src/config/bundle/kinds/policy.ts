/** `policy` of an Agent and of a Swarm: the limits, as `turn-policy.ts` and `swarm-policy.ts` explain them. */
import { z } from 'zod';
import { defaultPolicy, type TurnPolicy } from '../../turn-policy.ts';
import { count } from './fields.ts';

export const turnPolicy = z
  .strictObject(turnLimits({}))
  .describe('Limits of its turns; fields that are absent come from the `policy` of the swarm.');

// These are the orchestrator's defaults, which this room must not import; a test compares them.
export const swarmPolicy = z
  .strictObject({
    ...turnLimits(defaultPolicy),
    maxProcesses: limit(1, 'The most agent processes at a time.', 64),
    startTimeoutMs: limit(1, 'The time from the start of a process until it is ready.', 60_000),
    spares: count(0).max(1).optional().meta({ description: 'Processes that are started in advance.', default: 1 }),
    restart: z
      .strictObject({
        quickCrashes: limit(0, 'Crashes before a restart is delayed.', 5),
        baseMs: limit(0, 'The first delay; it doubles each time.', 1_000),
        maxMs: limit(0, 'The longest delay.', 300_000),
        healthyMs: limit(0, 'After this long without a crash, the count starts over.', 600_000),
      })
      .optional()
      .describe('Restarts of a process that crashes.'),
    idle: z
      .strictObject({
        hibernateAfterSeconds: z
          .number()
          .min(0)
          .nullable()
          .optional()
          .meta({
            description:
              'An idle process ends after this long; the next event wakes the instance. `null`: it ends only to ' +
              'make room.',
            default: 300,
          }),
      })
      .optional()
      .describe('The end of idle processes.'),
    heartbeat: z
      .strictObject({
        everyMs: limit(1, 'The time between two pings.', 5_000),
        missedPings: limit(1, 'A process that misses this many pings is killed.', 3),
      })
      .optional()
      .describe('The detection of processes whose event loop is blocked.'),
    shutdown: z
      .strictObject({
        gracePeriodSeconds: z
          .number()
          .min(0)
          .optional()
          .meta({ description: 'The time for running turns and clean-up, before they are ended.', default: 30 }),
      })
      .optional()
      .describe('The end of the swarm.'),
  })
  .describe('The limits of the swarm, and the defaults for turns of its agents.');

/** The limits of a turn; those of an agent have no defaults, because its swarm provides them. */
function turnLimits(defaults: Partial<TurnPolicy>) {
  return {
    maxStepsPerTurn: limit(1, 'The most steps; then the turn ends with `max_steps`.', defaults.maxStepsPerTurn),
    maxStepRetries: limit(0, 'Retries of one step.', defaults.maxStepRetries),
    retryBaseMs: limit(0, 'The wait before the first retry; it doubles each time.', defaults.retryBaseMs),
    retryMaxMs: limit(0, 'The longest wait before a retry.', defaults.retryMaxMs),
    requestTimeoutMs: limit(
      1,
      'The time for the answer to a request, from the start of the callee’s turn. When absent: 15000 for ' +
        '`ctx.agents.request`, the callee’s `turnTimeoutMs` for the tool `agents__request`.',
    ),
    queueTimeoutMs: limit(
      1,
      'The time a request to this agent may wait until its turn begins; the start of its process does not count. ' +
        'When absent: `turnTimeoutMs`.',
    ),
    toolTimeoutMs: limit(
      1,
      'The time for one tool call; waiting for another agent does not count.',
      defaults.toolTimeoutMs,
    ),
    modelTimeoutMs: limit(1, 'The time for one model call.', defaults.modelTimeoutMs),
    turnTimeoutMs: limit(1, 'One turn.', defaults.turnTimeoutMs),
    crashesBeforeDeadLetter: limit(
      1,
      'Crashes on one event before the event is put aside.',
      defaults.crashesBeforeDeadLetter,
    ),
    unwindMs: limit(0, 'The time for the layers of a cancelled turn to finish.', defaults.unwindMs),
    maxTokensPerTurn: limit(1, 'The most input and output tokens of all steps; no limit when absent.'),
    errorMessageLimit: limit(
      1,
      'The most characters of a tool error that the model reads.',
      defaults.errorMessageLimit,
    ),
    trace: z
      .enum(['on', 'off'])
      .optional()
      .meta({
        description: 'Whether every layer is recorded, for `gdn trace`.',
        ...(defaults.trace === undefined ? {} : { default: defaults.trace }),
      }),
  };
}

function limit(least: number, description: string, byDefault?: number) {
  return count(least)
    .optional()
    .meta({ description, ...(byDefault === undefined ? {} : { default: byDefault }) });
}
