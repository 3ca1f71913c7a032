/** Tests the record of requests that contain values which are not JSON. */
import { describe, expect, test } from 'bun:test';
import type { JsonObject, ModelParams } from '@goondan/types';
import { scriptedAgent } from '../../testing/index.ts';
import { beforeNext } from '../../testing/one-layer.ts';
import type { ChainRecord } from '../../trace/turn-trace.ts';

describe('params of a layer that are not JSON', () => {
  const cycle: Record<string, unknown> = { name: 'loop' };
  cycle.self = cycle;
  const shared = { deep: 1 };
  test.each<[string, unknown, unknown]>([
    ['a bigint', 12n, '12n'],
    ['a cycle', { cycle }, expect.objectContaining({ cycle: expect.objectContaining({ name: 'loop' }) })],
    ['a bigint beside a value that is there twice', [1n, shared, shared], ['1n', shared, shared]],
    [
      'a value that throws',
      {
        toJSON: () => {
          throw new Error('no');
        },
      },
      undefined,
    ],
  ])('%s leaves the trace of the turn readable', async (_title, value, recorded) => {
    const agent = await scriptedAgent({
      script: [{ say: 'done' }],
      extensions: [
        beforeNext('meddler', 'model', (ctx) => {
          // A layer in plain JavaScript may assign anything.
          const params: unknown = { providerOptions: { any: { value } } };
          ctx.params = params as ModelParams;
        }),
      ],
    });
    const { trace, text } = await agent.say('go');
    expect(text).toBe('done');
    const request = findRequest(trace as ChainRecord);
    expect(() => JSON.stringify(request)).not.toThrow();
    if (recorded === undefined) expect(request?.params as unknown).toBe('(cannot be read)');
    else expect(request?.params).toEqual({ providerOptions: { any: { value: recorded } } } as unknown as JsonObject);
  });
});

function findRequest(chain: ChainRecord): ChainRecord['request'] {
  return chain.request ?? chain.inside.map(findRequest).find((request) => request !== undefined);
}
