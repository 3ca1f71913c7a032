/** The schemas of `policy` in an Agent and in a Swarm; `turn-policy.ts` and `swarm-policy.ts` explain the limits. */
import { z } from 'zod';
import { defaultPolicy, type TurnPolicy } from '../../turn-policy.ts';
import { MOST_SPARES } from '../../swarm-policy.ts';
import { count, optional, text } from './fields.ts';

/** The numeric limits of a turn. Each has its lowest valid value and its description. */
const turnNumbers = {
  maxStepsPerTurn: [1, 'The maximum number of steps; then the turn ends with `max_steps`.'],
  maxStepRetries: [0, 'Retries of one step.'],
  retryBaseMs: [0, 'The delay before the first retry; the delay doubles each time.'],
  retryMaxMs: [0, 'The maximum delay before a retry.'],
  requestTimeoutMs: [
    1,
    'The time for an answer: to `ctx.agents.request`, from the call (15000 when absent); to `agents__request`, from the ' +
      'start of the callee’s turn (its `turnTimeoutMs` when absent).',
  ],
  queueTimeoutMs: [
    1,
    'The time that a request to this agent may wait until its turn begins; the start of the process does not count. ' +
      'When absent: `turnTimeoutMs`.',
  ],
  toolTimeoutMs: [1, 'The maximum time for one tool call; time spent waiting for another agent does not count.'],
  modelTimeoutMs: [1, 'The maximum time for one model call.'],
  turnTimeoutMs: [1, 'One turn.'],
  crashesBeforeDeadLetter: [1, 'The number of crashes after which an event becomes a dead letter.'],
  unwindMs: [0, 'The time that the layers of a cancelled turn may take to finish.'],
  maxTokensPerTurn: [1, 'The maximum number of input and output tokens of all steps together; no limit when absent.'],
  errorMessageLimit: [1, 'The maximum number of characters of a tool error that the model gets.'],
  maxFileBytes: [
    1,
    'The maximum number of bytes of one image or file. All files of one input together may have twice as many.',
  ],
} as const satisfies Record<Exclude<keyof TurnPolicy, 'trace'>, readonly [least: number, description: string]>;

export const turnPolicy = z
  .strictObject(turnLimits({}))
  .describe('Limits of the turns of an agent; absent fields come from the `policy` of the swarm.');

// These defaults repeat those of the orchestrator, which this folder must not import; a test compares them.
export const swarmPolicy = z
  .strictObject({
    ...turnLimits(defaultPolicy),
    maxProcesses: limit(1, 'The maximum number of agent processes at a time.', 64),
    maxKept: limit(
      0,
      'The maximum number of MCP connections with `attach.mode: stateful`, which outlive the processes of agents.',
      64,
    ),
    startTimeoutMs: limit(1, 'The time that a process may take from its start until it is ready.', 60_000),
    spares: optional(count(0).max(MOST_SPARES), 'The number of processes that are started in advance.', 1),
    restart: z
      .strictObject({
        quickCrashes: limit(0, 'The number of crashes after which restarts are delayed.', 5),
        baseMs: limit(0, 'The first delay; the delay doubles each time.', 1_000),
        maxMs: limit(0, 'The longest delay.', 300_000),
        healthyMs: limit(0, 'The time without a crash after which the count starts over.', 600_000),
      })
      .optional()
      .describe('Restarts of a process that crashes.'),
    idle: z
      .strictObject({
        hibernateAfterSeconds: optional(
          z.number().min(0).nullable(),
          'The time after which an idle process ends; the next event wakes the instance. `null`: an idle process ends ' +
            'only to make room.',
          300,
        ),
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
        gracePeriodSeconds: optional(
          z.number().min(0),
          'The time that running turns and clean-up may take before their processes are killed.',
          30,
        ),
      })
      .optional()
      .describe('The end of the swarm.'),
    changes: z
      .strictObject({
        allow: optional(
          z.array(text),
          'Globs of the files that agents may change, relative to the bundle: `*` is any part of a name, `**` any folders. ' +
            'None when absent. Whatever they match, only prompts, skills, and new tools and extensions can change.',
        ),
        approve: optional(z.boolean(), 'Whether a person must approve each change.', true),
      })
      .optional()
      .describe('Changes that agents make to the bundle with the tool `bundle`; none are allowed when absent.'),
  })
  .describe('The limits of the swarm, and the defaults for turns of its agents.');

/** Makes the schema of a turn's limits. The limits of an agent have no defaults, because its swarm provides them. */
function turnLimits(defaults: Partial<TurnPolicy>) {
  const numbers = Object.entries(turnNumbers).map(([name, [least, description]]) => [
    name,
    // Safe: `name` is a key of `turnNumbers`, although the compiler types it as any text.
    limit(least, description, defaults[name as keyof typeof turnNumbers]),
  ]);
  return {
    ...(Object.fromEntries(numbers) as Record<keyof typeof turnNumbers, ReturnType<typeof limit>>),
    trace: optional(z.enum(['on', 'off']), 'Whether every layer is recorded, for `gdn trace`.', defaults.trace),
  };
}

function limit(least: number, description: string, byDefault?: number) {
  return optional(count(least), description, byDefault);
}
