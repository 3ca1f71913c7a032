// Tests real processes: parts written for another runtime, pasted unchanged, fail with an error that names the field.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { GdnPlace } from './testing/gdn-place.ts';
import { sampleBundle } from './testing/sample-bundle.ts';

setDefaultTimeout(60_000);

let place: GdnPlace;
beforeEach(() => void (place = new GdnPlace()));
afterEach(async () => expect(await place.remove()).toEqual([]));

test('a step layer that returns shouldContinue fails the turn, which names the field and the nearest known one', async () => {
  await place.write('bundle', {
    'goondan.yaml': sampleBundle({
      agent: 'extensions: [Extension/once]',
      more: 'kind: Extension\nmetadata: { name: once }\nspec: { entry: ./once.ts }',
    }),
    'once.ts': `export function register(api) {
  api.pipeline.register('step', async (ctx) => ({ ...(await ctx.next()), shouldContinue: false }));
}
`,
  });
  const { exitCode, stdout } = await place.run('run', 'bundle', '--trust', '--input', 'hi', '--json');
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: 'E_MIDDLEWARE_RESULT',
      extension: 'once',
      message: expect.stringContaining(
        '"shouldContinue" is not a field of a step result; the nearest field is "hasToolCalls"',
      ),
    },
  });
});

test('a connector that emits a message gets the error, the log has it, and no agent starts', async () => {
  await place.write('bundle', {
    'goondan.yaml': sampleBundle({
      more: [
        'kind: Connector\nmetadata: { name: chat }\nspec: { entry: ./chat.ts, events: [{ name: said }] }',
        'apiVersion: goondan.ai/v1\nkind: Connection\nmetadata: { name: chat }\nspec:\n  connectorRef: Connector/chat\n  ingress: { rules: [{ route: {} }] }',
      ].join('\n---\n'),
    }),
    'chat.ts': `export default async function chat(ctx) {
  const caught = await ctx.emit({ name: 'said', message: { type: 'text', text: 'hi' } }).catch((error) => error);
  ctx.logger.info('caught', { code: caught?.code });
  await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
}
`,
  });
  await place.serve('bundle');
  const lines = await logLines('E_CONNECTOR_EVENT');
  expect(lines).toContain('"message" is not a field of an event; the nearest field is "input"');
  expect(JSON.parse((await place.run('instance', 'list', '--bundle', 'bundle', '--json')).stdout)).toEqual([]);
  expect((await place.run('stop', '--bundle', 'bundle')).exitCode).toBe(0);
});

test('a config with { value: … } is an error of the bundle, with its place and what to write', async () => {
  await place.write('bundle', {
    'goondan.yaml': sampleBundle({
      agent: 'extensions: [Extension/greet]',
      more: `kind: Extension
metadata: { name: greet }
spec:
  entry: ./greet.ts
  configSchema: { type: object, properties: { greeting: { type: string } } }
  config:
    greeting: { value: hello }`,
    }),
    'greet.ts': 'export function register() {}\n',
  });
  const { exitCode, stdout } = await place.run('validate', 'bundle');
  expect(exitCode).toBe(4);
  expect(stdout).toMatch(/goondan\.yaml:\d+:\d+/);
  expect(stdout).toContain('greeting must be string; a config does not take { value: … }: write the value itself');
});

async function logLines(part: string): Promise<string> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const { stdout } = await place.run('logs', '--bundle', 'bundle', '--json');
    if (stdout.includes(part) || Date.now() > deadline) return stdout.replaceAll('\\"', '"');
    await Bun.sleep(50);
  }
}
