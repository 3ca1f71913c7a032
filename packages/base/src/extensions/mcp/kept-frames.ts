/**
 * The messages between an agent process and a keeper, as lines of JSON. Both sides check what they receive: the other
 * side may be another version, or foreign code that found the socket.
 */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import { McpFailure } from './mcp-failure.ts';

/** The maximum length of one message in characters. It is more than a server may send in one message. */
export const LONGEST_FRAME = 40 * 1_024 * 1_024;

/** The requests that a keeper passes on to its server. `connect` makes sure that the server is connected. */
export const methods = [
  'connect',
  'listTools',
  'callTool',
  'listResources',
  'readResource',
  'listPrompts',
  'getPrompt',
] as const;

export type KeptMethod = (typeof methods)[number];

export interface KeptRequest {
  readonly id: number;
  readonly method: KeptMethod;
  readonly timeoutMs: number;
  /** The name of a tool or prompt, or the URI of a resource. */
  readonly name: string;
  readonly args: JsonObject;
  readonly traceparent?: string;
  readonly wantsProgress: boolean;
  /** True if the caller asks a person what the server wants to know. */
  readonly takesQuestions: boolean;
}

/** The answer to a question of the server. `failed` is the failure if there is none. */
export interface KeptAnswer {
  /** The number of the question. */
  readonly answer: number;
  readonly value?: JsonValue;
  readonly failed?: JsonValue;
}

export type FromCaller = KeptRequest | KeptAnswer | { readonly cancel: number };

/** Checks a message of a caller. Returns `undefined` if it is none. */
export function readFromCaller(value: JsonValue): FromCaller | undefined {
  if (!isObject(value)) return undefined;
  const { cancel, answer, id, method, timeoutMs, name = '', args = {}, traceparent } = value;
  const { wantsProgress = false, takesQuestions = false } = value;
  if (isCount(cancel)) return { cancel };
  if (isCount(answer)) return readReply(answer, value);
  const known = methods.find((each) => each === method);
  if (known === undefined || !isCount(id) || !isCount(timeoutMs) || typeof name !== 'string') return undefined;
  if (!isObject(args) || typeof wantsProgress !== 'boolean' || typeof takesQuestions !== 'boolean') return undefined;
  if (traceparent !== undefined && typeof traceparent !== 'string') return undefined;
  const trace = traceparent === undefined ? {} : { traceparent };
  return { id, method: known, timeoutMs, name, args, wantsProgress, takesQuestions, ...trace };
}

function readReply(answer: number, { value, failed }: JsonObject): KeptAnswer {
  return failed === undefined ? { answer, value: value ?? null } : { answer, failed };
}

/** Creates the failure of a request whose message, or whose answer, is too long. */
export function tooLong(subject: string): McpFailure {
  return new McpFailure('refused', `${subject} longer than ${LONGEST_FRAME} characters as JSON.`);
}

/** Parses one line. Returns `undefined` if it is not JSON. */
export function parseFrame(line: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(line);
    return value;
  } catch {
    return undefined;
  }
}

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
