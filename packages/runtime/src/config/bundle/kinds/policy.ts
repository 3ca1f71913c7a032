/** `policy` of an Agent and of a Swarm: the limits, as `turn-policy.ts` and `swarm-policy.ts` explain them. */
import { z } from 'zod';
import { defaultPolicy, type TurnPolicy } from '../../turn-policy.ts';
import { count } from './fields.ts';

export const turnPolicy = z
  .strictObject(turnLimits({}))
  .describe('Limits of its turns. What it does not say, `policy` of the swarm does.');

// The orchestrator, which this room does not know, has these defaults; a test compares them.
export const swarmPolicy = z
  .strictObject({
    ...turnLimits(defaultPolicy),
    maxProcesses: limit(1, 'Agent processes at a time.', 64),
    startTimeoutMs: limit(1, 'From the start of a process to its readiness.', 60_000),
    spares: count(0)
      .max(1)
      .optional()
      .meta({ description: 'Processes that are up before anybody needs them.', default: 1 }),
    restart: z
      .strictObject({
        quickCrashes: limit(0, 'Crashes after which a restart waits.', 5),
        baseMs: limit(0, 'The first wait; it doubles.', 1_000),
        maxMs: limit(0, 'The longest wait.', 300_000),
        healthyMs: limit(0, 'So long without a crash, and all is forgotten.', 600_000),
      })
      .optional()
      .describe('How a process that crashes is started again.'),
    idle: z
      .strictObject({
        hibernateAfterSeconds: z.number().min(0).nullable().optional().meta({
          description:
            'A process without work goes after so long; the next event wakes the instance. `null`: only to make room.',
          default: 300,
        }),
      })
      .optional()
      .describe('When a process without work goes.'),
    heartbeat: z
      .strictObject({
        everyMs: limit(1, 'Between two pings.', 5_000),
        missedPings: limit(1, 'A process that leaves so many unanswered is killed.', 3),
      })
      .optional()
      .describe('How a process whose loop is blocked is noticed.'),
    shutdown: z
      .strictObject({
        gracePeriodSeconds: z
          .number()
          .min(0)
          .optional()
          .meta({ description: 'For running turns and clean-up; then they are ended.', default: 30 }),
      })
      .optional()
      .describe('How the swarm stops.'),
  })
  .describe('The limits of the swarm, and those of turns for every agent that does not say otherwise.');

/** Of an agent without defaults: what it does not say, its swarm does. */
function turnLimits(defaults: Partial<TurnPolicy>) {
  return {
    maxStepsPerTurn: limit(1, 'Then the turn ends with `max_steps`.', defaults.maxStepsPerTurn),
    maxStepRetries: limit(0, 'Tries after the first, for one step.', defaults.maxStepRetries),
    retryBaseMs: limit(0, 'The wait before the first retry; it doubles each time.', defaults.retryBaseMs),
    retryMaxMs: limit(0, 'The longest wait before a retry.', defaults.retryMaxMs),
    requestTimeoutMs: limit(
      1,
      'For the answer to a request, from the start of the callee’s turn. When absent: 15000 for `ctx.agents.request`, the callee’s `turnTimeoutMs` for the tool `agents__request`.',
    ),
    queueTimeoutMs: limit(
      1,
      'For a request to this agent until its turn begins; the start of its process does not count. When absent: `turnTimeoutMs`.',
    ),
    toolTimeoutMs: limit(1, 'One tool call; waiting for another agent does not count.', defaults.toolTimeoutMs),
    modelTimeoutMs: limit(1, 'One model call in all.', defaults.modelTimeoutMs),
    turnTimeoutMs: limit(1, 'One turn.', defaults.turnTimeoutMs),
    crashesBeforeDeadLetter: limit(1, 'Crashes on one event before it is put aside.', defaults.crashesBeforeDeadLetter),
    unwindMs: limit(0, "How long a cancelled turn's layers may take.", defaults.unwindMs),
    maxTokensPerTurn: limit(1, 'Input and output tokens of all steps; no limit when absent.'),
    errorMessageLimit: limit(1, "Characters of a tool's error that the model reads.", defaults.errorMessageLimit),
    trace: z
      .enum(['on', 'off'])
      .optional()
      .meta({
        description: 'Whether what every layer did is written down, for `gdn trace`.',
        ...(defaults.trace === undefined ? {} : { default: defaults.trace }),
      }),
  };
}

function limit(least: number, description: string, byDefault?: number) {
  return count(least)
    .optional()
    .meta({ description, ...(byDefault === undefined ? {} : { default: byDefault }) });
}
