/**
 * Copies the data of an ended chain that may change later. All other data of the chain is read when its span is sent.
 */
import { isPlainObject, type PlainObject } from '../json/copy-json.ts';
import { unlessThrows } from '../ports/unless-throws.ts';
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
  /**
   * Present for a chain that was still running when its turn was given up: that time on the monotonic clock, and the
   * reason.
   */
  readonly leftAt?: { readonly elapsed: number; readonly error: unknown };
}

export function endedSpan(recorded: RunningSpan, hasContent: boolean, leftAt?: EndedSpan['leftAt']): EndedSpan {
  const { chain } = recorded;
  const hasFields = chain.kind === 'model' || (chain.kind === 'toolCall' && hasContent);
  // A layer may have put anything into the fields. Values that throw when they are read are left out.
  const fields = (hasFields ? unlessThrows(() => chain.inspect?.()) : undefined) ?? {};
  const { modelRef, params } = fields;
  return {
    recorded,
    modelRef: typeof modelRef === 'string' ? modelRef : chain.label,
    params: unlessThrows(() => (isPlainObject(params) ? { ...params } : {})) ?? {},
    content: (hasContent ? unlessThrows(() => contentOf(recorded, fields)) : undefined) ?? {},
    ...(leftAt === undefined ? {} : { leftAt }),
  };
}

function contentOf({ chain, result, outcome }: RunningSpan, fields: PlainObject): Attributes {
  const given = outcome === 'ended' ? result : undefined;
  if (chain.kind === 'model') return contentOfModelCall(fields, given, chain.mask);
  return chain.kind === 'toolCall' ? contentOfToolCall(fields, given, chain.mask) : {};
}
