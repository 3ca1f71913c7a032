/** What has to be looked at the moment a chain ends, because later it may be changed: the rest is put into words when it is sent. */
import { isPlainObject } from '../json/copy-json.ts';
import type { RunningSpan } from '../trace/running-span.ts';
import { contentOfModelCall, contentOfToolCall } from './content.ts';
import type { AttributeValue } from './otlp.ts';

export interface EndedSpan {
  readonly recorded: RunningSpan;
  /** Of a model call: who was asked in the end. */
  readonly modelRef: string;
  /** Of a model call: with which parameters. */
  readonly params: Fields;
  readonly content: Readonly<Record<string, AttributeValue>>;
  /** Its turn was given up while it ran: when, on the clock that only grows, and why. */
  readonly leftAt?: { readonly elapsed: number; readonly error: unknown };
}

export function endedSpan(recorded: RunningSpan, hasContent: boolean, leftAt?: EndedSpan['leftAt']): EndedSpan {
  const { kind, label } = recorded.chain;
  const fields = kind === 'model' || (kind === 'toolCall' && hasContent) ? fieldsOf(recorded) : {};
  const { modelRef, params } = fields;
  return {
    recorded,
    modelRef: typeof modelRef === 'string' ? modelRef : label,
    params: paramsOf(params),
    content: hasContent ? contentOf(recorded, fields) : {},
    ...(leftAt === undefined ? {} : { leftAt }),
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** A layer may have left anything there; what cannot be looked at is not told. */
function fieldsOf({ chain }: RunningSpan): Fields {
  try {
    return chain.inspect?.() ?? {};
  } catch {
    return {};
  }
}

function paramsOf(params: unknown): Fields {
  try {
    return isPlainObject(params) ? { ...params } : {};
  } catch {
    return {};
  }
}

function contentOf({ chain, result, outcome }: RunningSpan, fields: Fields) {
  try {
    const given = outcome === 'ended' ? result : undefined;
    if (chain.kind === 'model') return contentOfModelCall(fields, given, chain.mask);
    return chain.kind === 'toolCall' ? contentOfToolCall(fields, given, chain.mask) : {};
  } catch {
    return {};
  }
}
