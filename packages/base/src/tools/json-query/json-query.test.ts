import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, ToolContext } from '@goondan/types';
import { scriptedAgent } from '@goondan/runtime/testing';
import { handlers } from './index.ts';

let workdir: string;
beforeEach(() => void (workdir = mkdtempSync(join(tmpdir(), 'goondan-json-query-'))));
afterEach(() => rmSync(workdir, { recursive: true, force: true }));

/** Runs one call as the runtime does. Returns the error if the call is rejected. */
async function call(input: JsonObject, config: JsonObject = {}): Promise<Record<string, unknown>> {
  // The cast is safe: the handler uses only these fields.
  const ctx = { workdir, config } as unknown as ToolContext;
  try {
    return (await handlers.query(ctx, input)) as JsonObject;
  } catch (error) {
    const { code, message } = error as Record<string, unknown>;
    return { code, message };
  }
}

describe('D-25 json-query', () => {
  test('queries a value, a JSON text and a file', async () => {
    writeFileSync(join(workdir, 'a.json'), '\uFEFF{"a": [1, 2]}');
    expect(await call({ query: 'a[1]', data: { a: [1, 2] } })).toEqual({ result: 2 });
    expect(await call({ query: 'a[1]', data: '{"a": [1, 2]}' })).toEqual({ result: 2 });
    expect(await call({ query: 'a[1]', file: 'a.json' })).toEqual({ result: 2 });
    expect(await call({ query: 'b', file: 'a.json' })).toEqual({ result: null });
    expect(await call({ query: '@', data: null })).toEqual({ result: null });
  });

  test('names the config `root` when its folder does not exist', async () => {
    expect(await call({ query: 'a', file: 'a.json' }, { root: 'gone' })).toEqual({
      code: 'E_FILE_MISSING',
      message: `The folder in config \`root\` does not exist: ${join(workdir, 'gone')}.`,
    });
  });

  test('needs either data or a file', async () => {
    const refused = { code: 'E_QUERY_DATA', message: 'A query is about either data or a file: give one of them.' };
    expect(await call({ query: 'a' })).toEqual(refused);
    expect(await call({ query: 'a', data: {}, file: 'a.json' })).toEqual(refused);
  });

  test('names what is not JSON', async () => {
    writeFileSync(join(workdir, 'a.json'), '{"a": 1,}');
    expect(await call({ query: 'a', data: '{"a":' })).toEqual({
      code: 'E_QUERY_DATA',
      message: 'data is not JSON: Unexpected EOF.',
    });
    expect(await call({ query: 'a', file: './a.json' })).toMatchObject({
      code: 'E_QUERY_DATA',
      message: expect.stringMatching(/^"a\.json" is not JSON: /),
    });
  });

  test('reads no file outside of its root', async () => {
    writeFileSync(join(workdir, 'a.json'), '1');
    symlinkSync('/etc', join(workdir, 'out'));
    for (const file of ['../a.json', '/etc/passwd', 'out/passwd']) {
      expect(await call({ query: '@', file })).toMatchObject({ code: 'E_FILE_OUTSIDE' });
    }
    expect(await call({ query: '@', file: 'b.json' })).toMatchObject({ code: 'E_FILE_MISSING' });
    expect(await call({ query: '@', file: '.' })).toMatchObject({ code: 'E_FILE_KIND' });
  });

  test('bounds the data', async () => {
    writeFileSync(join(workdir, 'a.json'), '[1, 2, 3, 4]');
    expect(await call({ query: '@', file: 'a.json' }, { inputLimit: 11 })).toEqual({
      code: 'E_FILE_LIMIT',
      message: '"a.json" has 12 bytes; at most 11 are allowed.',
    });
    expect(await call({ query: '@', data: '[1, 2, 3, 4]' }, { inputLimit: 11 })).toEqual({
      code: 'E_QUERY_LIMIT',
      message: 'data has 12 bytes; at most 11 can be queried.',
    });
    expect(await call({ query: '@', data: '[1, 2, 3, 4]' }, { inputLimit: 12 })).toEqual({ result: [1, 2, 3, 4] });
    expect(await call({ query: '@', data: '"éé"' }, { inputLimit: 5 })).toMatchObject({ code: 'E_QUERY_LIMIT' });
    for (const data of [{ a: 'éé' }, ['éé', 1]]) {
      const bytes = Buffer.byteLength(JSON.stringify(data));
      expect(await call({ query: '@', data }, { inputLimit: bytes })).toEqual({ result: data });
      expect(await call({ query: '@', data }, { inputLimit: bytes - 1 })).toEqual({
        code: 'E_QUERY_LIMIT',
        message: `data has ${bytes} bytes; at most ${bytes - 1} can be queried.`,
      });
    }
  });

  test('bounds the result, and describes a result that is too long', async () => {
    const list = Array.from({ length: 20 }, () => 'four');
    expect(await call({ query: '@', data: list }, { outputLimit: 141 })).toEqual({ result: list });
    const refused = await call({ query: '@', data: list }, { outputLimit: 140 });
    expect(refused).toMatchObject({ code: 'E_QUERY_LIMIT' });
    expect(refused.message).toStartWith('The result is a list of 20 items and has ');
    expect(await call({ query: '@', data: { a: list, b: 1 } }, { outputLimit: 100 })).toMatchObject({
      message: expect.stringContaining('is an object with 2 keys ("a", "b") and has more than 100 characters'),
    });
  });

  test('ends a query that doubles its result', async () => {
    const query = (times: number) => `@${'|[@,@]'.repeat(times)}`;
    expect(await call({ query: query(2), data: 1 })).toEqual({
      result: [
        [1, 1],
        [1, 1],
      ],
    });
    expect(await call({ query: query(300), data: 1 })).toMatchObject({ code: 'E_QUERY_LIMIT' });
  });

  test('survives data that is nested too deeply', async () => {
    const deep = '['.repeat(2_000_000) + ']'.repeat(2_000_000);
    expect(['E_QUERY_LIMIT', 'E_QUERY_DATA']).toContain(String((await call({ query: '@ == @', data: deep })).code));
  });

  test('gives a model the result and the error', async () => {
    const agent = await scriptedAgent({
      script: [
        { when: 'good', call: { tool: 'json-query__query', args: { query: 'a', data: { a: 'found' } } } },
        { when: 'bad', call: { tool: 'json-query__query', args: { query: 'a[', data: {} } } },
        { say: '{{result.result}}{{result.error.code}}' },
      ],
      tools: [{ name: 'json-query', exports: [{ name: 'query', description: 'Queries JSON.' }], handlers }],
    });
    expect((await agent.say('good')).text).toEqual('found');
    expect((await agent.say('bad')).text).toEqual('E_QUERY_INVALID');
  });
});
