/**
 * One recorded call, as a line of a cassette: the request and its outcome. A line contains only messages that the
 * previous line lacks, so a long conversation is written once, not once per call.
 */
import type { JsonObject, JsonValue, ModelDelta, ModelReply } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import { canonicalJson } from '../../../json/canonical-json.ts';
import { digestJson } from '../../../json/digest-json.ts';
import type { ThrownRecord } from '../../../trace/effect-record.ts';
import type { ModelRequest } from '../model-port.ts';
import { toJson } from '../providers/to-json.ts';

/** A request to a model, without values that differ between runs (turn ids, signals) and without headers or keys. */
export interface CassetteRequest {
  readonly messages: readonly JsonValue[];
  readonly tools: readonly JsonValue[];
  readonly params: JsonValue;
  /** The schema of the answer, if the model takes one. */
  readonly outputSchema?: JsonValue;
}

export interface CassetteEntry {
  /** The position of the call in the order in which calls began. Lines are in the order in which calls ended. */
  readonly call: number;
  readonly request: CassetteRequest;
  readonly deltas: readonly ModelDelta[];
  readonly outcome:
    | { readonly reply: ModelReply }
    | {
        readonly error: Required<Pick<ThrownRecord, 'code' | 'message' | 'retryable'>> & Pick<ThrownRecord, 'failure'>;
      };
}

export function toCassetteRequest(request: ModelRequest): CassetteRequest {
  const tools = request.tools.map(({ name, description, parameters }) => toJson({ name, description, parameters }));
  const output = withSchema(request.outputSchema);
  return { messages: request.messages.map(toJson), tools, params: toJson(request.params), ...output };
}

/** Computes a fingerprint. Equal requests have equal fingerprints, regardless of the order of their keys. */
export function fingerprint(request: CassetteRequest): string {
  return digestJson(toJson(request));
}

export function writeEntry(entry: CassetteEntry, previous: CassetteRequest | undefined): string {
  const { call, request, deltas, outcome } = entry;
  const keep = countSame(previous?.messages ?? [], request.messages);
  const sameTools = previous !== undefined && canonicalJson([...previous.tools]) === canonicalJson([...request.tools]);
  const line = {
    call,
    fingerprint: fingerprint(request),
    request: {
      keep,
      messages: request.messages.slice(keep),
      ...(sameTools ? { keepTools: true } : { tools: request.tools }),
      params: request.params,
      ...withSchema(request.outputSchema),
    },
    ...outcome,
    deltas,
  };
  return `${JSON.stringify(line)}\n`;
}

/**
 * Reads one line. Returns `undefined` when the line is not an entry, or does not fit the request of the previous line.
 */
export function readEntry(line: string, previous: CassetteRequest | undefined): CassetteEntry | undefined {
  const value = parseObject(line);
  const written = value?.['request'];
  if (value === undefined || !isPlainObject(written)) return undefined;
  const { keep, messages, params = {}, outputSchema } = written;
  const tools = written['keepTools'] === true ? (previous?.tools ?? []) : written['tools'];
  if (typeof keep !== 'number' || !Array.isArray(messages) || !Array.isArray(tools)) return undefined;
  const all = [...(previous?.messages ?? []).slice(0, keep), ...messages];
  const request = { messages: all, tools, params, ...withSchema(outputSchema) };
  const { call, deltas } = value;
  const outcome = readOutcome(value);
  if (typeof call !== 'number' || !Array.isArray(deltas) || outcome === undefined) return undefined;
  if (value['fingerprint'] !== fingerprint(request)) return undefined;
  // Safe: the runtime wrote replies and deltas, or a person edited them; the caller checks every reply anyway.
  return { call, request, outcome, deltas: deltas as unknown as ModelDelta[] };
}

function withSchema(outputSchema: JsonValue | undefined): Pick<CassetteRequest, 'outputSchema'> {
  return outputSchema === undefined ? {} : { outputSchema };
}

function readOutcome({ reply, error }: JsonObject): CassetteEntry['outcome'] | undefined {
  // Safe: the caller checks the reply.
  if (isPlainObject(reply)) return { reply: reply as unknown as ModelReply };
  if (!isPlainObject(error)) return undefined;
  const { code, message, retryable, failure } = error;
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  return {
    error: { code, message, retryable: retryable === true, ...(typeof failure === 'string' && { failure }) },
  };
}

function countSame(before: readonly JsonValue[], now: readonly JsonValue[]): number {
  const texts = before.map(canonicalJson);
  const at = now.findIndex((message, index) => canonicalJson(message) !== texts[index]);
  return at < 0 ? now.length : at;
}

function parseObject(line: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(line);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
