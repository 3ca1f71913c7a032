/**
 * Ids of traces and spans, in the form of OpenTelemetry: a trace id has 32 and a span id 16 lowercase hexadecimal
 * digits, which are not all zero.
 *
 * Invariants:
 * 1. A span's id is computed from its position: the same turn, step, model or tool call has the same id, also when it
 *    runs again after a crash, and no other span has this id.
 * 2. No hash is computed before an id is read.
 * 3. A trace id is passed on unchanged. The runtime makes valid trace ids (`newTraceId`). An invalid id from a sender
 *    still connects its turns, and exported spans get a valid id instead.
 */
import { type AgentAddress, type AgentEvent, type SpanFields, writeTraceparent } from '@goondan/types';
import { sha256 } from '../json/sha256.ts';
import { type Ids, randomIds } from '../ports/ids.ts';

export function newTraceId(ids: Ids = randomIds): string {
  return hexDigest(ids.next('trace'), TRACE_DIGITS);
}

/**
 * Returns the id of a trace for export. A valid id is returned unchanged; for an invalid id from a sender, returns a
 * valid id made from it.
 */
export function toTraceId(traceId: string): string {
  return isTraceId(traceId) ? traceId : hexDigest(traceId, TRACE_DIGITS);
}

export function isTraceId(value: unknown): value is string {
  return isHex(value, TRACE_DIGITS);
}

export function isSpanId(value: unknown): value is string {
  return isHex(value, SPAN_DIGITS);
}

/** The ids of one span, computed when first read. */
export class SpanIds {
  private made: string | undefined;

  /** `name` identifies the span under its parent, or in the whole trace when it has no parent. */
  private constructor(
    readonly traceId: string,
    private readonly parent: { readonly spanId: string | undefined },
    private readonly name: readonly string[],
  ) {}

  /** Makes the ids of a turn, under the span of the agent that requested it. An invalid span id counts as no parent. */
  static ofTurn(
    turn: AgentAddress & { readonly turnId: string },
    { traceId, parentSpanId }: Pick<AgentEvent, 'traceId' | 'parentSpanId'>,
  ): SpanIds {
    const parent = { spanId: isSpanId(parentSpanId) ? parentSpanId : undefined };
    return new SpanIds(traceId, parent, [traceId, turn.agentName, turn.instanceKey, turn.turnId]);
  }

  /**
   * Makes the ids of a step under its turn, or of a model or tool call under its step. If a layer made the call, its
   * ids are under that layer's chain.
   */
  inside(name: string): SpanIds {
    return new SpanIds(this.traceId, this, [name]);
  }

  get spanId(): string {
    this.made ??= hexDigest([this.parent.spanId, ...this.name].join('\0'), SPAN_DIGITS);
    return this.made;
  }

  /** Returns the `traceparent` header for a request from within this span. */
  traceparent(isSampled = true): string {
    return writeTraceparent({ traceId: toTraceId(this.traceId), parentSpanId: this.spanId, isSampled });
  }

  get fields(): SpanFields {
    const { traceId, spanId, parent } = this;
    return { traceId, spanId, ...(parent.spanId === undefined ? {} : { parentSpanId: parent.spanId }) };
  }
}

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

/**
 * Returns the first digits of the text's hash. They could all be zero, but this is as unlikely as a collision and is
 * not checked.
 */
function hexDigest(text: string, digits: number): string {
  return sha256(text).slice(0, digits);
}

function isHex(value: unknown, digits: number): value is string {
  return typeof value === 'string' && value.length === digits && /^[0-9a-f]*[1-9a-f][0-9a-f]*$/.test(value);
}
