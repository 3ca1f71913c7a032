import type { ModelReply } from '@goondan/types';
import { isPlainObject } from '../json/copy-json.ts';
import type { EffectRecord } from './effect-record.ts';
import type { ModelRequestRecord } from './model-request.ts';
import type { ChainRecord } from './turn-trace.ts';

/** Returns the fields of a chain's record that show what reached the model or the tool's handler, and what came back. */
export function reachedBy(
  { effect }: Pick<ChainRecord, 'effect'>,
  effects: ReadonlyMap<string, EffectRecord>,
): Pick<ChainRecord, 'request' | 'reply' | 'args' | 'result'> {
  const { kind, asked, request, outcome } = (effect === undefined ? undefined : effects.get(effect)) ?? {};
  if (!isPlainObject(asked)) return {};
  switch (kind) {
    case 'model':
      // Safe: `RequestRecorder` made the request, and only checked replies are recorded.
      return {
        request: { ...(asked as ModelRequestRecord), ...request },
        ...(outcome?.ok === true && { reply: outcome.value as unknown as ModelReply }),
      };
    case 'tool': {
      const { args } = asked;
      return { ...(isPlainObject(args) && { args }), ...(outcome?.ok === true && { result: outcome.value }) };
    }
    default:
      return {};
  }
}
