/** The exit codes of `gdn`, and the error codes that lead to each. */
import type { ErrorCode } from '@goondan/types';

export const exitCodes = {
  ok: 0,
  failure: 1,
  /** The command line is wrong. */
  usage: 2,
  /**
   * There is nothing to run, or a part of the setup is missing. The launcher also exits with this code when it does not
   * find Bun.
   */
  setup: 3,
  /** The bundle has errors. */
  invalid: 4,
  /** 128 + the number of SIGINT, as in shells. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * Returns the exit code for an error that ended a command; `failure` when the error's code is not listed. A failed turn
 * always gives `failure`.
 */
export function exitCodeOf(code: string | undefined): ExitCode {
  return byError.get(code ?? '') ?? exitCodes.failure;
}

const errors: Partial<Record<ErrorCode, ExitCode>> = {
  E_AGENT_UNKNOWN: exitCodes.setup,
  E_APPROVAL_BELOW_AGENT: exitCodes.setup,
  E_QUESTION_CHANGED: exitCodes.setup,
  E_QUESTION_ENDED: exitCodes.setup,
  E_QUESTION_FORBIDDEN: exitCodes.setup,
  E_QUESTION_REPLY: exitCodes.usage,
  E_QUESTION_UNKNOWN: exitCodes.setup,
  E_BACKUP_FOLDER: exitCodes.setup,
  E_BACKUP_FORMAT: exitCodes.setup,
  E_BUNDLE_INVALID: exitCodes.invalid,
  E_BUNDLE_MISSING: exitCodes.setup,
  E_BUNDLE_SECRET: exitCodes.setup,
  E_CANCELLED: exitCodes.interrupted,
  E_CHANGESET_UNKNOWN: exitCodes.setup,
  E_CLUSTER_CERTIFICATE: exitCodes.setup,
  E_CLUSTER_TOKEN: exitCodes.setup,
  E_CONTROL_CLOSED: exitCodes.setup,
  E_CONTROL_PATH: exitCodes.setup,
  E_CONTROL_VERSION: exitCodes.setup,
  E_CURRENT_FOLDER: exitCodes.setup,
  E_DEAD_LETTER_UNKNOWN: exitCodes.setup,
  E_DEPLOY_CONFLICT: exitCodes.setup,
  E_ENV_MISSING: exitCodes.setup,
  E_HISTORY_RANGE: exitCodes.setup,
  E_INIT_FOLDER: exitCodes.setup,
  E_INSTANCE_EXISTS: exitCodes.setup,
  E_INSTANCE_KEY: exitCodes.usage,
  E_INSTANCE_UNKNOWN: exitCodes.setup,
  E_MCP_EXISTS: exitCodes.setup,
  E_MCP_FILE: exitCodes.setup,
  E_MCP_UNKNOWN: exitCodes.setup,
  E_NODE_TAKEN: exitCodes.setup,
  E_NODE_UNKNOWN: exitCodes.setup,
  E_OUTPUT_FILE: exitCodes.setup,
  E_OUTPUT_INVALID: exitCodes.usage,
  E_PLATFORM: exitCodes.setup,
  E_POSTGRES_MISSING: exitCodes.setup,
  E_PRICES_FILE: exitCodes.usage,
  E_PROMPT_STEP: exitCodes.setup,
  E_PROMPT_UNRECORDED: exitCodes.setup,
  E_REPLAY_EXTENSION: exitCodes.setup,
  E_REPLAY_INCOMPLETE: exitCodes.setup,
  E_REPLAY_SWAP: exitCodes.setup,
  E_REPLAY_UNFINISHED: exitCodes.setup,
  E_PACKAGE_MISSING: exitCodes.setup,
  E_RESTORE_TARGET: exitCodes.setup,
  E_STATE_ROOT: exitCodes.setup,
  E_STORE_FORMAT: exitCodes.setup,
  E_STORE_ADDRESS: exitCodes.setup,
  E_STORE_SCHEMA: exitCodes.setup,
  E_STUDIO_PAGE: exitCodes.setup,
  E_STUDIO_PORT: exitCodes.setup,
  E_SWARM_PLAN: exitCodes.invalid,
  E_SWARM_RUNNING: exitCodes.setup,
  E_SWARM_TAKEN: exitCodes.setup,
  E_SWARM_UNKNOWN: exitCodes.setup,
  E_TRACE_AMBIGUOUS: exitCodes.setup,
  E_TRACE_UNKNOWN: exitCodes.setup,
  E_UNTRUSTED: exitCodes.setup,
  E_USAGE: exitCodes.usage,
};

const byError = new Map<string, ExitCode>(Object.entries(errors));
