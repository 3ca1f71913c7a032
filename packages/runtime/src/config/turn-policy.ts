/** The limits of a turn, each with its default. `Swarm.spec.policy` sets them. */
export interface TurnPolicy {
  /** Completed steps; then the turn ends with `max_steps`. */
  readonly maxStepsPerTurn: number;
  /** Tries after the first, for one step. */
  readonly maxStepRetries: number;
  /** The delay before the first retry; the delay doubles each time. An error's own `retryAfterMs` counts instead. */
  readonly retryBaseMs: number;
  readonly retryMaxMs: number;
  /**
   * The deadline of a request to another agent that sets none, from the start of the callee's turn. Undefined:
   * `defaultRequestTimeoutMs` for `ctx.agents.request`, the callee's `turnTimeoutMs` for the tool `agents__request`.
   */
  readonly requestTimeoutMs: number | undefined;
  /**
   * The deadline for requests to this agent until their turn begins; the start of its process does not count.
   * Undefined: `turnTimeoutMs`.
   */
  readonly queueTimeoutMs: number | undefined;
  /**
   * The deadline of one tool call, without the time it waits for another agent: a request has its own deadline, which
   * may be longer.
   */
  readonly toolTimeoutMs: number;
  /** The deadline of one whole model call. */
  readonly modelTimeoutMs: number;
  readonly turnTimeoutMs: number;
  /** An event whose turn crashed the process this often is folded as a failed turn and put aside. */
  readonly crashesBeforeDeadLetter: number;
  /** The time for a cancelled turn's layers to unwind before the turn ends without them. */
  readonly unwindMs: number;
  /** The limit of input and output tokens of all steps; undefined: no limit. */
  readonly maxTokensPerTurn: number | undefined;
  /** The most characters of a tool's error message that the model sees. */
  readonly errorMessageLimit: number;
  /** Whether the trace of its turns is written, for `gdn trace`. */
  readonly trace: 'on' | 'off';
}

/** The deadline of `ctx.agents.request`, when neither the request nor the bundle sets one. */
export const defaultRequestTimeoutMs = 15_000;

export const defaultPolicy: TurnPolicy = {
  maxStepsPerTurn: 32,
  maxStepRetries: 3,
  retryBaseMs: 1_000,
  retryMaxMs: 30_000,
  requestTimeoutMs: undefined,
  queueTimeoutMs: undefined,
  toolTimeoutMs: 120_000,
  modelTimeoutMs: 600_000,
  turnTimeoutMs: 1_800_000,
  crashesBeforeDeadLetter: 3,
  unwindMs: 2_000,
  maxTokensPerTurn: undefined,
  errorMessageLimit: 1_000,
  trace: 'on',
};
