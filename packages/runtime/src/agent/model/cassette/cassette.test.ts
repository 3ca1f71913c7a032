import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { appendFile, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GoondanError, type JsonObject, type ModelMessage, type ModelReply } from '@goondan/types';
import { systemClock } from '../../../ports/clock.ts';
import type { Model } from '../model-port.ts';
import { openModel } from '../../model-call/open-model.ts';
import { ask, failureOf } from '../providers/wire/ask-model.ts';
import { openaiCase } from '../providers/wire/provider-cases.ts';
import { startWireServer } from '../providers/wire/wire-server.ts';

let folder: string;
let path: string;
let runs = 0;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'cassette-'))));
afterAll(() => rm(folder, { recursive: true }));
beforeEach(() => {
  runs += 1;
  path = join(folder, `tapes/${runs}.jsonl`);
});

const user = (content: string): ModelMessage => ({ role: 'user', content });
const says = (text: string): ModelReply => ({
  content: [{ type: 'text', text }],
  finishReason: 'stop',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
});

/** A model that repeats each question letter by letter. */
const echo: Model = {
  async generate(request) {
    const last = request.messages.at(-1);
    const text = `You said: ${typeof last?.content === 'string' ? last.content : '…'}`;
    for (const letter of text) request.onDelta({ type: 'text', text: letter });
    return says(text);
  },
};

const open = (options: JsonObject, upstream: Model = echo) =>
  openModel(
    'Model/taped',
    { provider: 'cassette', model: 'tape', options: { file: `tapes/${runs}.jsonl`, ...options } },
    { clock: systemClock, environment: {}, folder, openUpstream: async () => upstream },
  );
const record = (upstream?: Model) => open({ mode: 'record', upstream: 'Model/real' }, upstream);
const replay = () => open({ mode: 'replay' });
const linesOf = async () => (await readFile(path, 'utf8')).trimEnd().split('\n');

describe('record and replay', () => {
  test('a replay gives the recorded replies and deltas, in order', async () => {
    const recorder = await record();
    const first = await ask(recorder, [user('one')]);
    const second = await ask(recorder, [user('one'), { role: 'assistant', content: 'You said: one' }, user('two')]);
    const player = await replay();
    expect(await ask(player, [user('one')])).toEqual(first);
    expect(await ask(player, [user('one'), { role: 'assistant', content: 'You said: one' }, user('two')])).toEqual(
      second,
    );
  });

  test('a real provider is recorded once and replayed without it; the file holds no key and no header', async () => {
    const spec = { provider: 'openai', model: 'gpt-4o', apiKey: 'sk-canary-42' };
    const ports = { clock: systemClock, environment: {}, folder };
    let recorded: ModelReply;
    {
      await using server = startWireServer(openaiCase.dialect);
      server.answer({ reply: { text: ['Hel', 'lo'], usage: { input: 3, output: 2, cached: 0 } } });
      const real = await openModel('Model/real', { ...spec, endpoint: server.url }, ports);
      recorded = (await ask(await record(real), [user('Hi')])).reply;
    }
    const { reply, deltas } = await ask(await replay(), [user('Hi')]);
    expect(reply).toEqual(recorded);
    expect(deltas.map(({ text }) => text)).toEqual(['Hel', 'lo']);
    const text = await readFile(path, 'utf8');
    expect(text).not.toContain('sk-canary-42');
    expect(text.toLowerCase()).not.toContain('authorization');
  });

  test('errors are recorded and thrown again, without their retryAfterMs', async () => {
    let calls = 0;
    const shaky: Model = {
      async generate(request) {
        calls += 1;
        if (calls === 1) throw new GoondanError('E_MODEL_FAILED', 'busy', { retryable: true, retryAfterMs: 60_000 });
        if (calls === 2) throw new TypeError('a bug');
        return echo.generate(request);
      },
    };
    const recorder = await record(shaky);
    await failureOf(ask(recorder, [user('Hi')]));
    await failureOf(ask(recorder, [user('Hi')]));
    await ask(recorder, [user('Hi')]);
    const player = await replay();
    const busy = await failureOf(ask(player, [user('Hi')]));
    expect(busy).toMatchObject({ code: 'E_MODEL_FAILED', message: 'busy', retryable: true });
    expect((busy as GoondanError).retryAfterMs).toBeUndefined();
    expect(await failureOf(ask(player, [user('Hi')]))).toMatchObject({
      code: 'E_MODEL_FAILED',
      message: 'a bug',
      retryable: false,
    });
    expect((await ask(player, [user('Hi')])).reply).toEqual(says('You said: Hi'));
  });

  test('a cancelled call is not recorded', async () => {
    const controller = new AbortController();
    const hanging: Model = {
      generate: () => {
        controller.abort(new Error('stop'));
        return Promise.reject(controller.signal.reason as Error);
      },
    };
    const recorder = await record(hanging);
    await failureOf(ask(recorder, [user('Hi')], { signal: controller.signal }));
    expect(await linesOf()).toBeArrayOfSize(1);
    const aborted = AbortSignal.abort(new Error('stop'));
    expect(String(await failureOf(ask(await replay(), [user('Hi')], { signal: aborted })))).toContain('stop');
  });

  test('calls that overlap are replayed in the order in which they began', async () => {
    const gates = new Map<string, PromiseWithResolvers<void>>();
    const slow: Model = {
      async generate(request) {
        const gate = Promise.withResolvers<void>();
        gates.set(JSON.stringify(request.messages[0]?.content), gate);
        await gate.promise;
        return echo.generate(request);
      },
    };
    const recorder = await record(slow);
    const both = [ask(recorder, [user('first')]), ask(recorder, [user('second')])];
    gates.get('"second"')?.resolve();
    await both[1];
    gates.get('"first"')?.resolve();
    await Promise.all(both);
    const player = await replay();
    expect((await ask(player, [user('first')])).reply).toEqual(says('You said: first'));
    expect((await ask(player, [user('second')])).reply).toEqual(says('You said: second'));
  });

  test('recording continues after the calls already in the file', async () => {
    const recorder = await record();
    await ask(recorder, [user('one')]);
    await ask(recorder, [user('one'), user('two')]);
    await ask(await record(), [user('three')]);
    const player = await replay();
    await ask(player, [user('one')]);
    await ask(player, [user('one'), user('two')]);
    expect((await ask(player, [user('three')])).reply).toEqual(says('You said: three'));
  });

  test('Y-01 a schema of an answer is recorded, and the replay asks for the same form', async () => {
    const schema = { type: 'object', properties: { a: { type: 'number' } } };
    const asked: unknown[] = [];
    const native: Model = {
      takesSchema: () => true,
      generate: async ({ outputSchema }) => {
        asked.push(outputSchema);
        return says('{"a":1}');
      },
    };
    const recorder = await record(native);
    expect(await recorder.takesSchema?.(schema, [])).toBe(true);
    await ask(recorder, [user('one')], { outputSchema: schema });
    await ask(recorder, [user('two')]);
    expect(asked).toEqual([schema, undefined]);
    const player = await replay();
    expect(await player.takesSchema?.(schema, [])).toBe(true);
    const other = { outputSchema: { ...schema, title: 'Other' } };
    expect(String(await failureOf(ask(player, [user('one')], other)))).toContain('outputSchema.title');
    await ask(player, [user('one')], { outputSchema: schema });
    expect(await player.takesSchema?.(schema, [])).toBe(false);
    await ask(player, [user('two')]);
    expect(await (await record()).takesSchema?.(schema, [])).toBe(false);
  });

  test('the request is recorded as it was asked, not as it was changed later', async () => {
    const messages = [user('one')];
    const meddling: Model = {
      async generate(request) {
        messages[0] = user('changed');
        return echo.generate(request);
      },
    };
    await ask(await record(meddling), messages);
    expect((await ask(await replay(), [user('one')])).reply).toEqual(says('You said: changed'));
  });

  test('a long conversation is written once, not once for each call', async () => {
    const recorder = await record();
    const messages: ModelMessage[] = [];
    for (let turn = 0; turn < 30; turn += 1) {
      messages.push(user(`${turn} ${'x'.repeat(1000)}`));
      await ask(recorder, messages, { tools: [{ name: 'a__b', description: 'y'.repeat(1000) }] });
    }
    const lines = await linesOf();
    const bytes = lines
      .map((line) => (JSON.parse(line) as { request?: unknown }).request)
      .reduce<number>((sum, request) => sum + JSON.stringify(request ?? '').length, 0);
    expect(bytes).toBeLessThan(40_000);
    const player = await replay();
    for (let turn = 1; turn <= 30; turn += 1) {
      await ask(player, messages.slice(0, turn), { tools: [{ name: 'a__b', description: 'y'.repeat(1000) }] });
    }
  });
});

describe('a request that differs', () => {
  const weather = { name: 'weather__get', description: 'The weather.', parameters: { type: 'object' } };
  const system: ModelMessage = { role: 'system', content: 'Be brief.' };
  const asking = (city: string): ModelMessage => ({
    role: 'user',
    content: [{ type: 'text', text: `${'long '.repeat(100)}${city}` }],
  });
  const history = [system, asking('Seoul')];

  test.each<[string, ModelMessage[], object, string[]]>([
    ['a text', [system, asking('Busan')], {}, ['messages[1].content[0].text', 'Seoul"', 'Busan"']],
    ['a message more', [...history, user('more')], {}, ['messages[2]', 'recorded: nothing', '"more"']],
    ['a message less', history.slice(0, 1), {}, ['messages[1]', 'now:      nothing']],
    ['a role', [user('Be brief.'), asking('Seoul')], {}, ['messages[0].role', '"system"', '"user"']],
    [
      'a tool',
      history,
      { tools: [{ ...weather, description: 'Rain.' }] },
      ['tools[0].description', '"The weather."', '"Rain."'],
    ],
    ['no tool', history, { tools: [] }, ['tools[0]', 'now:      nothing']],
    ['a setting', history, { params: { temperature: 1 } }, ['params.temperature', 'recorded: 0.5', 'now:      1']],
  ])('in %s is refused, and the error shows the first difference', async (_what, messages, request, expected) => {
    await ask(await record(), history, { tools: [weather], params: { temperature: 0.5 } });
    const player = await replay();
    const error = await failureOf(
      ask(player, messages, { tools: [weather], params: { temperature: 0.5 }, ...request }),
    );
    expect(error).toMatchObject({ code: 'E_CASSETTE_MISMATCH', retryable: false });
    for (const part of expected) expect(String(error)).toContain(part);
    expect(String(error).length).toBeLessThan(700);
    // The cassette is still at the same position, so the right request works.
    await ask(player, history, { tools: [weather], params: { temperature: 0.5 } });
  });

  test('only in ignored fields matches the recording', async () => {
    await ask(await record(), [user('Hi')], { tools: [weather], turnId: 'turn-1' });
    const reordered = {
      parameters: { type: 'object' },
      description: 'The weather.',
      name: 'weather__get',
      annotations: { readOnly: true },
    };
    await ask(await replay(), [{ content: 'Hi', role: 'user' }], { tools: [reordered], turnId: 'turn-2' });
  });

  test('a call after the last recorded one is E_CASSETTE_END', async () => {
    await ask(await record(), [user('Hi')]);
    const player = await replay();
    await ask(player, [user('Hi')]);
    expect(await failureOf(ask(player, [user('Hi')]))).toMatchObject({ code: 'E_CASSETTE_END', retryable: false });
  });
});

describe('the file', () => {
  test('is for its owner only', async () => {
    await ask(await record(), [user('Hi')]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('must exist when a replay starts', async () => {
    expect(await failureOf(replay())).toMatchObject({ code: 'E_CASSETTE_FILE' });
  });

  test('keeps the earlier calls when a crash cut off its last line anywhere', async () => {
    const recorder = await record();
    await ask(recorder, [user('one')]);
    const whole = (await stat(path)).size;
    await ask(recorder, [user('one'), user('two')]);
    const all = (await stat(path)).size;
    for (let size = all - 1; size >= whole; size -= 7) {
      await truncate(path, size);
      const player = await replay();
      await ask(player, [user('one')]);
      expect(await failureOf(ask(player, [user('one'), user('two')]))).toMatchObject({ code: 'E_CASSETTE_END' });
    }
    await appendFile(path, '{"call":2,"finger');
    await ask(await record(), [user('three')]);
    const player = await replay();
    await ask(player, [user('one')]);
    await ask(player, [user('three')]);
  });

  test.each<[string, (lines: string[]) => string[]]>([
    ['with a line that is not JSON', ([head = '', , ...rest]) => [head, 'x', ...rest]],
    ['with a changed request', (lines) => lines.map((line) => line.replace('"content":"one"', '"content":"eins"'))],
    ['with a missing line', ([head = '', , ...rest]) => [head, ...rest]],
    [
      'with a line that has neither reply nor error',
      (lines) => lines.map((line) => line.replace('"reply"', '"answer"')),
    ],
    ['that is another file', () => ['{"name":"package.json"}']],
  ])('%s is refused, to record and to replay', async (_what, damage) => {
    const recorder = await record();
    await ask(recorder, [user('one')]);
    await ask(recorder, [user('one'), user('two')]);
    await writeFile(path, `${damage(await linesOf()).join('\n')}\n`);
    expect(await failureOf(replay())).toMatchObject({ code: 'E_CASSETTE_FILE' });
    expect(await failureOf(record())).toMatchObject({ code: 'E_CASSETTE_FILE' });
  });

  test('may be edited by hand to give another reply', async () => {
    await ask(await record(), [user('one')]);
    await writeFile(path, (await readFile(path, 'utf8')).replace('"You said: one"', '"Edited."'));
    expect((await ask(await replay(), [user('one')])).reply).toEqual(says('Edited.'));
  });

  test('fails the call to be recorded when it cannot be written', async () => {
    const recorder = await record();
    await rm(path);
    await rm(join(folder, 'tapes'), { recursive: true });
    expect(await failureOf(ask(recorder, [user('Hi')]))).toMatchObject({ code: 'E_CASSETTE_FILE' });
  });
});

describe('options', () => {
  test.each<[JsonObject, string]>([
    [{ mode: 'play' }, 'E_RESOURCE_INVALID'],
    [{ mode: 'replay', file: '' }, 'E_RESOURCE_INVALID'],
    [{ mode: 'record' }, 'E_RESOURCE_INVALID'],
    [{ mode: 'replay', speed: 2 }, 'E_RESOURCE_INVALID'],
    [{ mode: 'replay', file: '../outside.jsonl' }, 'E_PATH_OUTSIDE'],
    [{ mode: 'replay', file: 'a/../../outside.jsonl' }, 'E_PATH_OUTSIDE'],
    [{ mode: 'replay', file: '/etc/passwd' }, 'E_PATH_OUTSIDE'],
  ])('%p is %s', async (options, code) => {
    expect(await failureOf(open(options))).toMatchObject({ code });
  });
});
