import { expect, test } from 'bun:test';
import type { JsonValue } from '@goondan/types';
import type { TurnEnd } from './swarm.ts';
import { plainInOrder, sendPlain, typedAsk } from './typed-ask.ts';

/** A schema of a schema library that accepts texts, and makes numbers of them. */
const schema = {
  '~standard': {
    version: 1 as const,
    vendor: 'test',
    jsonSchema: { input: () => ({ type: 'string' }), output: () => ({ type: 'number' }) },
    validate: (value: unknown) =>
      Number.isNaN(Number(value)) ? { issues: [{ message: 'no number' }] } : { value: Number(value) },
  },
};

const answering = (output: JsonValue) =>
  // Safe: only these fields are read.
  typedAsk(async () => ({ result: { turnId: 't', finishReason: 'text_response', output } }) as TurnEnd);

test('Y-01 the check of a schema library runs on the answer, and its result is the output', async () => {
  const delivery = { agent: 'a', input: 'How many?', output: { schema } };
  expect((await answering('7')(delivery)).result).toMatchObject({ finishReason: 'text_response', output: 7 });
  const { result } = await answering('seven')(delivery);
  expect(result).toMatchObject({ finishReason: 'error', error: { code: 'E_OUTPUT_SCHEMA' } });
  expect([result.output, result.error?.message]).toEqual([undefined, expect.stringContaining('no number')]);
});

test('Y-01 the inputs of one client keep their order, with and without a schema', async () => {
  const sent: (string | undefined)[] = [];
  const toPlain = plainInOrder();
  const deliver = sendPlain(toPlain, async ({ input }) => void sent.push(input));
  const ask = typedAsk(async ({ input }) => {
    sent.push(input);
    // Safe: only these fields are read.
    return { result: { turnId: 't', finishReason: 'text_response' } } as TurnEnd;
  }, toPlain);
  const output = { schema };
  // Without a schema before it, an input is sent at once.
  const calls: Promise<unknown>[] = [deliver({ input: '1' })];
  expect(sent).toEqual(['1']);
  const refused = deliver({ input: 'refused', output: { schema: { type: 7 } } }).catch(() => 'refused');
  calls.push(
    ask({ input: '2', output }),
    ask({ input: '3' }),
    deliver({ input: '4', output }),
    deliver({ input: '5' }),
  );
  await calls[1];
  calls.push(deliver({ input: '6' }));
  expect(await refused).toBe('refused');
  await Promise.all(calls);
  expect(sent).toEqual(['1', '2', '3', '4', '5', '6']);
  calls.push(ask({ input: '7' }));
  expect(sent.at(-1)).toBe('7');
});
