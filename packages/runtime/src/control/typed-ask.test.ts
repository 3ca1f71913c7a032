import { expect, test } from 'bun:test';
import type { JsonValue } from '@goondan/types';
import type { TurnEnd } from './swarm.ts';
import { typedAsk } from './typed-ask.ts';

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
