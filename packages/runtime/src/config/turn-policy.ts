/** The limits of a turn, each with its default. `Swarm.spec.policy` sets them. */
export interface TurnPolicy {
  /** The maximum number of completed steps; after that, the turn ends with `max_steps`. */
  readonly maxStepsPerTurn: number;
  /** The maximum number of retries of one step. */
  readonly maxStepRetries: number;
  /**
   * The delay before the first retry; the delay doubles each time. If the error has a `retryAfterMs`, that delay is
   * used instead.
   */
  readonly retryBaseMs: number;
  readonly retryMaxMs: number;
  /**
   * The time limit of a request to another agent, if the request sets no limit. The time counts from the call for
   * `ctx.agents.request`, and from the start of the callee's turn for the tool `agents__request`. When undefined, the
   * limits are `defaultRequestTimeoutMs` and the callee's `turnTimeoutMs`.
   */
  readonly requestTimeoutMs: number | undefined;
  /**
   * The maximum time that a request to this agent waits until its turn begins. The time to start the agent's process
   * does not count. When undefined, the limit is `turnTimeoutMs`.
   */
  readonly queueTimeoutMs: number | undefined;
  /**
   * The time limit of one tool call. Time in which the tool waits for another agent does not count: a request has its
   * own time limit, which may be longer.
   */
  readonly toolTimeoutMs: number;
  /** The time limit of one whole model call. */
  readonly modelTimeoutMs: number;
  readonly turnTimeoutMs: number;
  /**
   * If the turn of an event has crashed the process this many times, the event becomes a dead letter: its input is
   * added to the conversation, and its turn fails.
   */
  readonly crashesBeforeDeadLetter: number;
  /** The time that the layers of a cancelled turn have to finish; after that, the turn ends without them. */
  readonly unwindMs: number;
  /** The limit of input and output tokens of all steps of a turn together; undefined means no limit. */
  readonly maxTokensPerTurn: number | undefined;
  /** The maximum number of characters of a tool's error message that the model gets. */
  readonly errorMessageLimit: number;
  /** The maximum number of bytes of one image or file. All files of one input together may have twice as many. */
  readonly maxFileBytes: number;
  /** Whether traces of turns are written, for `gdn trace`. */
  readonly trace: 'on' | 'off';
}

/** The time limit of `ctx.agents.request`, if neither the request nor the bundle sets one. */
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
  maxFileBytes: 20 * 1_024 * 1_024,
  trace: 'on',
};
