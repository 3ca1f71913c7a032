/** The data of an ended chain that may change later, copied at its end. All other data is described when it is sent. */
import { isPlainObject, type PlainObject } from '../json/copy-json.ts';
import type { RunningSpan } from '../trace/running-span.ts';
import { contentOfModelCall, contentOfToolCall } from './content.ts';
import type { Attributes } from './otlp.ts';

export interface EndedSpan {
  readonly recorded: RunningSpan;
  /** The model that a model call used in the end. */
  readonly modelRef: string;
  /** The parameters of a model call. */
  readonly params: PlainObject;
  readonly content: Attributes;
  /** For a chain that was running when its turn was given up: the time on the monotonic clock, and the reason. */
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

/** Reads the fields. A layer may have put anything there; if reading throws, there are no fields. */
function fieldsOf({ chain }: RunningSpan): PlainObject {
  try {
    return chain.inspect?.() ?? {};
  } catch {
    return {};
  }
}

function paramsOf(params: unknown): PlainObject {
  try {
    return isPlainObject(params) ? { ...params } : {};
  } catch {
    return {};
  }
}

function contentOf({ chain, result, outcome }: RunningSpan, fields: PlainObject) {
  try {
    const given = outcome === 'ended' ? result : undefined;
    if (chain.kind === 'model') return contentOfModelCall(fields, given, chain.mask);
    return chain.kind === 'toolCall' ? contentOfToolCall(fields, given, chain.mask) : {};
  } catch {
    return {};
  }
}
