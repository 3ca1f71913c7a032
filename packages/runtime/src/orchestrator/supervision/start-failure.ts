/** Classifies error codes by their effect on the next start and on the running event. */
import type { ErrorCode } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';

/** The conversation on disk is damaged, or belongs to another instance. */
const DAMAGE: readonly ErrorCode[] = ['E_STORE_CORRUPT', 'E_STORE_INSTANCE'];

/** The store failed temporarily. It may work later, when space is freed, a lock is released, or answers are fetched. */
const TROUBLE: readonly ErrorCode[] = [
  'E_DISK_FULL',
  'E_FENCED',
  'E_LOCKED',
  'E_OUTBOX_FULL',
  'E_STORE_AWAY',
  'E_STORE_READ',
  'E_STORE_WRITE',
];

/**
 * The parts of the agent are wrong: with the same files and the same environment, the next start fails the same way.
 */
const WRONG_PARTS: readonly ErrorCode[] = [
  'E_CASSETTE_FILE',
  'E_ENV_MISSING',
  'E_EXT_COMPAT',
  'E_EXT_CONFIG',
  'E_EXT_INIT',
  'E_EXT_LOAD',
  'E_MCP_FILE',
  'E_MCP_VARIABLE',
  'E_MODEL_KEY',
  'E_MODEL_SCRIPT',
  'E_MODEL_UNKNOWN',
  'E_PATH_OUTSIDE',
  'E_PIPELINE_KIND',
  'E_PIPELINE_OPTIONS',
  'E_RESOURCE_INVALID',
  'E_TOOL_CONFIG',
  'E_TOOL_LOAD',
  'E_TOOL_NAME',
  'E_TOOL_SCHEMA',
  'E_TOOL_TAKEN',
];

const FINAL: ReadonlySet<ErrorCode> = new Set([...DAMAGE, ...WRONG_PARTS]);
const STORE: ReadonlySet<ErrorCode> = new Set([...DAMAGE, ...TROUBLE]);

/**
 * Returns true if a retry alone cannot succeed: first a file has to change, or a request for another attempt has to
 * come. An error says so by its code, or itself (`retryable: false`).
 */
export function isFinal({ code, retryable = !FINAL.has(code) }: FrameError): boolean {
  return !retryable;
}

/** Returns true if the store failed, or refused a turn. Such a failure does not count as a crash of an event. */
export function isStoreFault(error: FrameError): boolean {
  return STORE.has(error.code) || isTooEarly(error);
}

/** Returns true if the store refused a turn because it has earlier input, which must be handled first. */
export function isTooEarly({ code, retryable }: FrameError): boolean {
  return code === 'E_STORE_ORDER' && retryable === true;
}

/** Returns true if the conversation on disk cannot be used. */
export function isDamage({ code }: FrameError): boolean {
  return DAMAGE.includes(code);
}
