// Tests with real agents: the bundle that `gdn init` wrote, with a local server that speaks OpenAI's format.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openaiWire } from '../../../runtime/src/agent/model/providers/wire/openai-wire.ts';
import type { WireCall, WireReply } from '../../../runtime/src/agent/model/providers/wire/wire-dialect.ts';
import { startWireServer, type WireServer } from '../../../runtime/src/agent/model/providers/wire/wire-server.ts';
import { sampledCases, sampleStep, testInProof } from '../../../../test/samples.ts';
import { type Template, templateNames } from '../init/templates.ts';
import { openPlace } from '../testing/open-place.ts';
import { noProviders } from '../testing/no-providers.ts';

const page = join(import.meta.dir, '../../../../docs/models.md');

const place = openPlace();
let server: WireServer;
beforeEach(() => void (server = startWireServer(openaiWire)));
afterEach(() => server[Symbol.asyncDispose]());

const usage = { input: 20, output: 3, cached: 0 };
const greeting: WireReply = { text: ['Good ', 'morning', ' to you.'], usage };

/**
 * The tool that the server calls in a template, a part of the result that goes back, and the number of requests for one
 * input, of which an agent that is asked makes one.
 */
const calls: Partial<Record<Template, { call: Omit<WireCall, 'id'>; result: string; requests: number }>> = {
  'multi-agent': {
    call: { name: 'agents__request', args: { target: 'researcher', input: 'Tea?' } },
    result: 'Good morning to you.',
    requests: 3,
  },
  extension: { call: { name: 'guest-book__read', args: {} }, result: '"visits":1', requests: 2 },
  demo: {
    call: { name: 'agents__request', args: { target: 'forecaster', input: 'Tea?' } },
    result: 'Good morning to you.',
    requests: 3,
  },
};

describe('a bundle of gdn init', () => {
  // `init.test.ts` runs every template without a key.
  test.each(templateNames)(
    '--template %s with another model.yaml: valid, and answers from the server',
    async (template) => {
      await init(template);
      await useServer();
      expect(JSON.parse((await gdn('validate', 'my-swarm', '--json')).stdout)).toMatchObject({
        valid: true,
        warnings: [],
      });
      // Only `npm run proof` asks every template. Other tests here ask `default`; the call of `demo` is that of `multi-agent`.
      if (sampleStep !== 1 && !['extension', 'multi-agent'].includes(template)) return;
      const { call, result, requests = 1 } = calls[template] ?? {};
      const first = call === undefined ? [] : [{ reply: { calls: [{ id: 'call-1', ...call }], usage } }];
      server.answer(...first, { reply: greeting });
      expect(await gdn('run', 'my-swarm', '--trust', '--input', 'Tea?')).toEqual({
        stdout: 'Good morning to you.\n',
        stderr: '',
        exitCode: 0,
      });
      expect(server.requests.map(({ path }) => path)).toEqual(Array(requests).fill('/v1/chat/completions'));
      expect(server.requests[0]?.body).toMatchObject({ model: 'qwen3:8b', stream: true });
      expect(server.requests[0]?.headers.get('authorization')).toBeNull();
      const last = JSON.stringify(server.requests.at(-1)?.body['messages']);
      if (result !== undefined) expect(last).toContain(JSON.stringify(result).slice(1, -1));
    },
  );

  test('streams: the first words are on the screen before the server has sent the last', async () => {
    await init('default');
    await useServer();
    const seen = Promise.withResolvers<void>();
    // The first event contains only the role. Two pieces of text follow.
    server.answer({ first: 3, of: greeting, after: seen.promise });
    const { screen, exitCode } = await place.runOnTerminal(
      ['run', 'my-swarm', '--trust', '--input', 'hello'],
      [{ whenSeen: 'Good morning', onSeen: () => seen.resolve() }],
      { env: noProviders },
    );
    expect({ screen, exitCode }).toEqual({ screen: 'Good morning to you.\n20 → 3 tokens\n', exitCode: 0 });
  });
});

describe('a server with errors', () => {
  // `provider-failures.test.ts` has every error for every provider.
  const repeated = [
    ['500', { status: 500, body: '{"error":{"message":"Out of memory."}}' }, 'failed (HTTP 500): Out of memory.'],
    ['429', { status: 429, body: '{"error":{"message":"Slow down."}}' }, 'failed (HTTP 429): Slow down.'],
    ['its end in the middle', { first: 2, of: greeting, after: 'end' }, 'broke off in the middle of its reply: '],
  ] as const;

  test.each([...sampledCases(repeated, 3, 2)])(
    '%s: the request is repeated, and the answer is complete',
    async (_name, trouble, words) => {
      await init('minimal');
      await useServer();
      server.answer(trouble, { reply: greeting });
      const { stdout, stderr, exitCode } = await gdn('run', 'my-swarm', '--trust', '--input', 'hello');
      expect({ stdout, exitCode }).toEqual({ stdout: 'Good morning to you.\n', exitCode: 0 });
      expect(stderr).toStartWith(
        `warn: my-swarm: Step 0 failed and is tried again in 1000 ms: openai-compatible/qwen3:8b ${words}`,
      );
      expect(server.requests).toHaveLength(2);
    },
  );

  testInProof('on a terminal, text before a broken stream does not count', async () => {
    await init('minimal');
    await useServer();
    server.answer({ first: 3, of: { text: ['Good ', 'night', '.'], usage }, after: 'end' }, { reply: greeting });
    const run = ['run', 'my-swarm', '--trust', '--input', 'hello'];
    const { screen, exitCode } = await place.runOnTerminal(run, [], { env: noProviders });
    expect(screen).toMatch(/^Good night\nwarn: .*\n\nGood morning to you\.\n20 → 3 tokens\n$/);
    expect(exitCode).toBe(0);
  });

  test('no server: the error names its address', async () => {
    const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
    const endpoint = `http://127.0.0.1:${listener.port}/v1`;
    listener.stop(true);
    await init('minimal');
    await useServer(endpoint);
    await neverRetry();
    const problem = 'E_MODEL_FAILED: openai-compatible/qwen3:8b cannot be reached: ';
    await expectFailure(problem, `Check that a server runs at ${endpoint}, and that this machine can reach it.`);
  });

  test('401: the key is not printed or written, though the server repeats it', async () => {
    const key = 'sk-canary-7d1f"0003';
    await init('minimal');
    await useServer();
    const folder = await place.write('my-swarm', {});
    const model = await Bun.file(join(folder, 'model.yaml')).text();
    const written = `${model}  apiKey: { valueFrom: { env: SERVER_KEY } }\n`;
    await place.write('my-swarm', { 'model.yaml': written, '.env': `SERVER_KEY='${key}'\n` });
    const body = JSON.stringify({ error: { message: `Incorrect API key provided: ${key}.` } });
    server.answer({ status: 401, body });
    const problem =
      'E_MODEL_AUTH: openai-compatible/qwen3:8b does not accept the key from apiKey of the Model (HTTP 401): ';
    const { stdout, stderr } = await expectFailure(problem, 'Check apiKey of the Model');
    expect(server.requests[0]?.headers.get('authorization')).toBe(`Bearer ${key}`);
    const files = [...new Bun.Glob('**/*').scanSync({ cwd: place.stateRoot, dot: true })];
    expect(files).not.toBeEmpty();
    const texts = await Promise.all(files.map((file) => Bun.file(join(place.stateRoot, file)).text()));
    for (const text of [stdout, stderr, ...texts]) expect(text).not.toContain('sk-canary');
  });
});

/** Expects the same error on both streams, and returns the output. */
async function expectFailure(problem: string, advice: string) {
  const ended = await gdn('run', 'my-swarm', '--trust', '--input', 'hello', '--json');
  const [code = '', message = ''] = problem.split(/: ([\s\S]*)/);
  expect(JSON.parse(ended.stdout)).toMatchObject({
    finishReason: 'error',
    error: { code, message: expect.stringContaining(message), suggestion: expect.stringContaining(advice) },
  });
  expect(JSON.parse(ended.stderr)).toEqual({
    error: { code, message: expect.stringContaining(message), suggestion: expect.stringContaining(advice) },
  });
  expect(ended.exitCode).toBe(1);
  return ended;
}

/** Turns off retries, because otherwise these tests would wait for three attempts. */
async function neverRetry(): Promise<void> {
  const file = Bun.file(join(place.folder, 'my-swarm', 'goondan.yaml'));
  await file.write(`${await file.text()}  policy: { maxStepRetries: 0 }\n`);
}

async function init(template: Template): Promise<void> {
  expect((await gdn('init', 'my-swarm', '--template', template, '--no-git')).exitCode).toBe(0);
}

/** Applies the change that docs/models.md describes, with the address of this test's server. */
async function useServer(endpoint = `${server.url}/v1`): Promise<void> {
  const section =
    (await Bun.file(page).text()).split('\n## A server on your own machine\n')[1]?.split('\n## ')[0] ?? '';
  const [, yaml = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(section) ?? [];
  expect(yaml).toContain('endpoint: http://localhost:11434/v1\n');
  await place.write('my-swarm', { 'model.yaml': yaml.replace('http://localhost:11434/v1', endpoint) });
}

function gdn(...args: string[]) {
  return place.runWith({ env: noProviders }, ...args);
}
