import { isPlainObject } from '../json/copy-json.ts';
import type { EffectRecord } from './effect-record.ts';
import type { ModelRequestRecord } from './model-request.ts';
import type { ChainRecord } from './turn-trace.ts';

/** Returns the fields of a chain's record that show the request that reached the model or the tool's handler. */
export function reachedBy(
  { effect }: Pick<ChainRecord, 'effect'>,
  effects: ReadonlyMap<string, EffectRecord>,
): Pick<ChainRecord, 'request' | 'args' | 'result'> {
  const { kind, asked, request, outcome } = (effect === undefined ? undefined : effects.get(effect)) ?? {};
  if (!isPlainObject(asked)) return {};
  switch (kind) {
    case 'model':
      // Safe: `RequestRecorder` made this value.
      return { request: { ...(asked as ModelRequestRecord), ...request } };
    case 'tool': {
      const { args } = asked;
      return { ...(isPlainObject(args) && { args }), ...(outcome?.ok === true && { result: outcome.value }) };
    }
    default:
      return {};
  }
}
