// Tests the extension `model-fallback` with real processes, two local servers and the commands that show what happened.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AnthropicCache } from '../../../runtime/src/agent/model/providers/wire/anthropic-cache.ts';
import { anthropicWire } from '../../../runtime/src/agent/model/providers/wire/anthropic-wire.ts';
import { openaiWire } from '../../../runtime/src/agent/model/providers/wire/openai-wire.ts';
import { startWireServer } from '../../../runtime/src/agent/model/providers/wire/wire-server.ts';
import { openPlace } from '../testing/open-place.ts';
import { noProviders } from '../testing/no-providers.ts';

const example = readFileSync(join(import.meta.dir, '../../../base/examples/model-fallback/goondan.yaml'), 'utf8');
const usage = { input: 1, output: 1, cached: 0 };

const place = openPlace();

const gdn = (...args: string[]) => place.runWith({ env: noProviders }, ...args);

/** Replaces the two scripted models of the example. */
function withModels(busy: object, spare: object): string {
  const [agent, , , swarm] = example.split(/^---\n/m);
  const model = (name: string, spec: object) =>
    `${JSON.stringify({ apiVersion: 'goondan.ai/v1', kind: 'Model', metadata: { name }, spec })}\n`;
  return [agent, model('busy', busy), model('spare', spare), swarm].join('---\n');
}

test('Y-06 sticks over restarts and kill -9, and gdn blame and gdn trace name the model that answered, and why', async () => {
  const cache = new AnthropicCache();
  await using busy = startWireServer(anthropicWire, (body) => cache.count(body));
  await using spare = startWireServer(openaiWire);
  // The limit is over after the first request, but the conversation stays with the spare model.
  busy.answer(
    { status: 429, body: '{"type":"error","error":{"type":"rate_limit_error","message":"Slow down."}}' },
    { reply: { usage, text: ['From the busy model.'] } },
  );
  spare.answer({ reply: { usage, text: ['From the spare model.'] } });
  const yaml = withModels(
    { provider: 'anthropic', model: 'claude-sonnet-4-5', apiKey: 'k', endpoint: busy.url },
    { provider: 'openai-compatible', model: 'local', endpoint: `${spare.url}/v1` },
  );
  await place.write('swarm', {
    'goondan.yaml': yaml.replace('[Model/spare] }\n---', '[Model/spare], cooldownMs: 0 }\n---'),
  });
  const ask = () => gdn('run', 'swarm', '--trust', '--input', 'Hello?');
  expect((await ask()).stdout).toBe('From the spare model.\n');
  expect([busy.requests.length, spare.requests.length]).toEqual([1, 1]);
  expect(await gdn('replay', 'last', '--trust', '--bundle', 'swarm')).toMatchObject({ exitCode: 0 });
  // Each command above and below starts a swarm of its own. This one loses its agent process.
  await place.serveWith({ env: noProviders }, 'swarm');
  const send = () => gdn('send', '--wait', '--bundle', 'swarm', '--input', 'Hello?');
  expect((await send()).stdout).toBe('From the spare model.\n');
  const { agents } = JSON.parse((await gdn('status', '--bundle', 'swarm', '--json')).stdout);
  process.kill(agents[0].pid, 'SIGKILL');
  expect((await send()).stdout).toBe('From the spare model.\n');
  await gdn('stop', '--bundle', 'swarm');
  expect((await ask()).stdout).toBe('From the spare model.\n');
  expect([busy.requests.length, spare.requests.length]).toEqual([1, 4]);

  const blamed = (await gdn('blame', '--bundle', 'swarm')).stdout.match(/model Model\/\w+/g);
  expect([...(blamed ?? [])]).toEqual(Array<string>(4).fill('model Model/spare'));
  const trace = (await gdn('trace', 'last', '--bundle', 'swarm')).stdout;
  expect(trace).toContain('modelRef: Model/busy → Model/spare');
  expect(trace).toContain('modelReason added: Model/busy failed (rate-limit)');
});

test('Y-06 gdn validate finds a model that the agent does not have, with its place', async () => {
  await place.write('swarm', {
    'goondan.yaml': example.replace('config: { models: [Model/spare] }', 'config: { models: [Model/spar] }'),
  });
  const { stdout, exitCode } = await gdn('validate', 'swarm', '--json');
  expect(exitCode).not.toBe(0);
  expect(JSON.parse(stdout).errors).toMatchObject([
    {
      code: 'E_REF_MISSING',
      message: expect.stringContaining('models.0 names Model/spar, which is not a model of Agent/assistant.'),
      suggestion: expect.stringContaining('Model/spare'),
      line: 8,
    },
  ]);
});
