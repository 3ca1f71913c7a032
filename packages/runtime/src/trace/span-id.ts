/**
 * Ids of traces and spans, in the form of OpenTelemetry: a trace id is 32, a span id 16 lowercase hexadecimal digits,
 * neither of them all zero.
 *
 * Invariants:
 * 1. A span's id follows from where it stands: the same turn, step, model or tool call has the same id, also when it is run
 *    again after a crash, and no other one has.
 * 2. Nothing is hashed before somebody asks.
 * 3. A trace id is carried as it came. The runtime makes valid ones (`newTraceId`); what a sender made up otherwise
 *    still ties its turns together, and its spans have valid ids of their own.
 */
import { type SpanFields, writeTraceparent } from '@goondan/types';
import { sha256 } from '../json/sha256.ts';
import { type Ids, randomIds } from '../ports/ids.ts';

export function newTraceId(ids: Ids = randomIds): string {
  return hexDigest(ids.next('trace'), TRACE_DIGITS);
}

/** The id under which the outside hears of a trace: itself, unless a sender made it up in another form. */
export function toTraceId(traceId: string): string {
  return isTraceId(traceId) ? traceId : hexDigest(traceId, TRACE_DIGITS);
}

export function isTraceId(value: unknown): value is string {
  return isHex(value, TRACE_DIGITS);
}

export function isSpanId(value: unknown): value is string {
  return isHex(value, SPAN_DIGITS);
}

/** The ids of one span, made when they are first asked for. */
export class SpanIds {
  private made: string | undefined;

  /** `name` says which one it is of all that stand under its parent, or of the whole trace when it has none. */
  private constructor(
    readonly traceId: string,
    private readonly parent: { readonly spanId: string | undefined },
    private readonly name: readonly string[],
  ) {}

  /** A turn's: under the span of another agent when that one asked. What is no span id is no parent. */
  static ofTurn(turn: TurnPlace, { traceId, parentSpanId }: TurnCause): SpanIds {
    const parent = { spanId: isSpanId(parentSpanId) ? parentSpanId : undefined };
    return new SpanIds(traceId, parent, [traceId, turn.agentName, turn.instanceKey, turn.turnId]);
  }

  /**
   * A step's under its turn's; a model call's and a tool call's under its step's or, when a layer made it, under that
   * layer's chain's.
   */
  inside(name: string): SpanIds {
    return new SpanIds(this.traceId, this, [name]);
  }

  get spanId(): string {
    this.made ??= hexDigest([this.parent.spanId, ...this.name].join('\0'), SPAN_DIGITS);
    return this.made;
  }

  /** For whoever is asked from within this span. */
  traceparent(isSampled = true): string {
    return writeTraceparent({ traceId: toTraceId(this.traceId), parentSpanId: this.spanId, isSampled });
  }

  get fields(): SpanFields {
    const { traceId, spanId, parent } = this;
    return { traceId, spanId, ...(parent.spanId === undefined ? {} : { parentSpanId: parent.spanId }) };
  }
}

interface TurnPlace {
  readonly agentName: string;
  readonly instanceKey: string;
  readonly turnId: string;
}

interface TurnCause {
  readonly traceId: string;
  readonly parentSpanId?: string | undefined;
}

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

/** Nobody looks whether it is all zero: that is as likely as guessing somebody else's id. */
function hexDigest(text: string, digits: number): string {
  return sha256(text).slice(0, digits);
}

function isHex(value: unknown, digits: number): value is string {
  return typeof value === 'string' && value.length === digits && /^[0-9a-f]*[1-9a-f][0-9a-f]*$/.test(value);
}
