// Tests with real agents: `gdn explain`, which uses the records of earlier runs.
import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPlace, refusal } from '../testing/open-place.ts';
import { sampleBundle, tellTale } from '../testing/sample-bundle.ts';
import { until } from '../../../../test/until.ts';

const place = openPlace();

const pass = '(ctx) => ctx.next()';

/**
 * Writes a bundle with one extension of the swarm, one extension of the agent with a layer of every kind, and a tool.
 */
function writeLayered() {
  const more = [
    'kind: Extension\nmetadata: { name: audit }\nspec: { entry: ./audit.ts }',
    'kind: Extension\nmetadata: { name: guard }\nspec: { entry: ./guard.ts }',
    'kind: Tool\nmetadata: { name: clock }\nspec:\n  entry: ./clock.ts\n  exports: [{ name: now, description: The time. }]',
  ].join('\n---\napiVersion: goondan.ai/v1\n');
  return place.write('layered', {
    'goondan.yaml': sampleBundle({
      agents: ['helper'],
      agent: 'extensions: [Extension/guard]\ntools: [Tool/clock, Tool/agents]',
      swarm: 'extensions: [Extension/audit]',
      more,
    }),
    'audit.ts': `export const register = (api) => api.pipeline.register('turn', ${pass}, { name: 'write-down', priority: 500 });\n`,
    'guard.ts': `export function register(api) {
  api.pipeline.register('turn', ${pass}, { name: 'inner', priority: 20 });
  api.pipeline.register('turn', ${pass}, { name: 'outer', priority: 10 });
  for (const kind of ['step', 'model', 'toolCall']) api.pipeline.register(kind, ${pass}, { name: kind + '-guard' });
}\n`,
    'clock.ts': `export const handlers = { now: () => 'noon' };\n`,
  });
}

function makeTemporary(): string {
  const folder = join(place.folder, 'temporary');
  mkdirSync(folder);
  return folder;
}

const layer = (extension: string, name: string, priority: number) =>
  expect.objectContaining({ extension, name, priority });

const expectedLayers = {
  turn: [layer('audit', 'write-down', 500), layer('guard', 'outer', 10), layer('guard', 'inner', 20)],
  step: [layer('guard', 'step-guard', 0)],
  model: [layer('guard', 'model-guard', 0)],
  toolCall: [layer('guard', 'toolCall-guard', 0)],
};
const tools = ['clock__now', 'agents__request', 'agents__send', 'agents__list', 'agents__catalog'];
/** each tool is listed with its source. */
const sources = {
  toolSources: tools.map((name) => ({ name, from: name === 'clock__now' ? 'Tool/clock' : 'runtime', seenAt: null })),
  unknownTools: [],
  packages: {},
};

test('says from which package each part comes, before and after the first start', async () => {
  const own = 'kind: Extension\nmetadata: { name: guard }\nspec: { entry: ./guard.ts }';
  const clock =
    'kind: Tool\nmetadata: { name: clock }\nspec: { entry: ./clock.ts, exports: [{ name: now, description: x }] }';
  await place.write('short', {
    'goondan.yaml': sampleBundle({
      agent:
        'extensions: [{ ref: Extension/logging, as: log }, Extension/guard]\ntools: [Tool/http-fetch, Tool/clock, Tool/agents]',
      more: `${own}\n---\napiVersion: goondan.ai/v1\n${clock}`,
    }),
    'guard.ts': 'export function register() {}\n',
    'clock.ts': `export const handlers = { now: () => 'noon' };\n`,
  });
  const packages = { 'Extension/log': '@goondan/base', 'Tool/http-fetch': '@goondan/base' };
  const json = async () => JSON.parse((await place.run('explain', 'short', '--json')).stdout);
  expect(await json()).toMatchObject({ source: 'declared', extensions: ['log', 'guard'], packages });
  expect((await place.run('run', 'short', '--trust', '--input', 'hello')).exitCode).toBe(0);
  const after = await json();
  expect(after).toMatchObject({ source: 'last-run', packages });
  expect(Object.keys(after.packages)).toHaveLength(2);
  const { stdout } = await place.run('explain', 'short');
  expect(stdout).toContain('\nExtensions: log (of @goondan/base), guard\n');
  expect(stdout).toMatch(/^Tools: {6}clock__now, agents__request, .+\n {12}http-fetch__\S+.* \(of @goondan\/base\)$/m);
});

test('before the first start: the declared parts, and no layers', async () => {
  await writeLayered();
  const { stdout, stderr, exitCode } = await place.run('explain', 'layered', '--agent', 'host', '--json');
  expect(JSON.parse(stdout)).toEqual({
    agent: 'host',
    source: 'declared',
    extensions: ['audit', 'guard'],
    layers: null,
    tools,
    ...sources,
  });
  expect(stderr).toContain('has not been started yet');
  expect(exitCode).toBe(0);
  expect(existsSync(place.stateRoot)).toBe(false);
});

test('shows the agents that an agent may ask, if the bundle limits them', async () => {
  const agent = 'mayAsk: [Agent/helper]';
  await place.write('limited', { 'goondan.yaml': sampleBundle({ agents: ['helper', 'other'], agent }) });
  const shown = async (...options: string[]) => (await place.run('explain', 'limited', ...options)).stdout;
  expect(await shown()).toContain('\nMay ask:    helper\n');
  expect(await shown('--agent', 'helper')).not.toContain('May ask');
  expect(JSON.parse(await shown('--json'))).toMatchObject({ source: 'declared', mayAsk: ['helper'] });
  expect((await place.run('run', 'limited', '--trust', '--input', 'hello')).exitCode).toBe(0);
  expect(JSON.parse(await shown('--json'))).toMatchObject({ source: 'last-run', mayAsk: ['helper'] });
  expect(JSON.parse(await shown('--load', '--trust', '--json'))).toMatchObject({
    source: 'loaded',
    mayAsk: ['helper'],
  });
  await place.write('limited', { 'goondan.yaml': sampleBundle({ agents: ['helper'], agent: 'mayAsk: []' }) });
  expect(await shown()).toContain('\nMay ask:    none\n');
});

test('Y-01 shows that the answers of an agent must fit a schema', async () => {
  const agent = 'output: { schema: { type: object }, retries: 1 }';
  await place.write('typed', { 'goondan.yaml': sampleBundle({ agents: ['helper'], agent }) });
  const shown = async (...options: string[]) => (await place.run('explain', 'typed', ...options)).stdout;
  expect(await shown()).toContain('\nAnswers:    JSON that fits the schema in spec.output (--json shows it)\n');
  expect(await shown('--agent', 'helper')).not.toContain('Answers');
  expect(JSON.parse(await shown('--json'))).toMatchObject({ output: { schema: { type: 'object' }, retries: 1 } });
});

test('after a run: the layers of the last start, outermost first; a changed module is reported', async () => {
  const folder = await writeLayered();
  expect((await place.run('run', 'layered', '--trust', '--input', 'hello')).exitCode).toBe(0);
  const { stdout, stderr, exitCode } = await place.run('explain', '--bundle', 'layered', '--agent', 'host', '--json');
  expect({ ...JSON.parse(stdout), stderr, exitCode }).toEqual({
    agent: 'host',
    source: 'last-run',
    extensions: ['audit', 'guard'],
    layers: expectedLayers,
    tools,
    ...sources,
    stderr: '',
    exitCode: 0,
  });
  // The agent `helper` never started, so its layers are unknown.
  const other = await place.run('explain', 'layered', '--agent', 'helper', '--json');
  expect(JSON.parse(other.stdout)).toMatchObject({ agent: 'helper', source: 'declared', extensions: ['audit'] });

  const workspaces = join(place.stateRoot, 'workspaces');
  const layers = join(workspaces, readdirSync(workspaces)[0] ?? '', 'layers');
  expect(readdirSync(layers)).toEqual(['host.json']);
  expect(statSync(join(layers, 'host.json')).mode & 0o777).toBe(0o600);

  writeFileSync(join(folder, 'guard.ts'), 'export const register = () => undefined;\n');
  const changed = await place.run('explain', 'layered', '--json');
  expect(JSON.parse(changed.stdout)).toMatchObject({ agent: 'host', source: 'last-run' });
  expect(changed.stderr).toContain('have changed since that start');

  writeFileSync(join(layers, 'host.json'), '{"agent":"host","layers":');
  const damaged = await place.run('explain', 'layered', '--json');
  expect(JSON.parse(damaged.stdout)).toMatchObject({ source: 'declared', layers: null });
});

test('--load with trust: the layers without a turn, and nothing left behind', async () => {
  await writeLayered();
  const env = { TMPDIR: makeTemporary() };
  const { stdout, exitCode } = await place.runWith({ env }, 'explain', 'layered', '--load', '--trust', '--json');
  expect(JSON.parse(stdout)).toEqual({
    agent: 'host',
    source: 'loaded',
    extensions: ['audit', 'guard'],
    layers: expectedLayers,
    tools,
    ...sources,
  });
  expect(exitCode).toBe(0);
  expect(existsSync(place.stateRoot)).toBe(false);
  expect(readdirSync(env.TMPDIR)).toEqual([]);
});

test('--load of an agent that never becomes ready: Ctrl-C ends it, exit 130, and nothing is left behind', async () => {
  const mark = join(place.folder, 'mark');
  const hang = `import { writeFileSync } from 'node:fs';
export const register = () => new Promise(() => writeFileSync(${JSON.stringify(mark)}, ''));\n`;
  await place.write('bundle', { 'goondan.yaml': sampleBundle(tellTale), 'tell-tale.ts': hang });
  const env = { TMPDIR: makeTemporary() };
  const child = place.startWith({ env }, 'explain', 'bundle', '--load', '--trust');
  await until(() => existsSync(mark));
  child.kill('SIGINT');
  expect(await child.exited).toBe(130);
  expect(await child.stderr.text()).toStartWith('E_CANCELLED: ');
  expect(readdirSync(env.TMPDIR)).toEqual([]);
});

test('the onion for people', async () => {
  await writeLayered();
  const { stdout } = await place.run('explain', 'layered', '--load', '--trust');
  expect(stdout).toBe(`Agent host: as it was loaded just now, the outermost layer first.

turn
  audit/write-down                  swarm, priority 500
    guard/outer                     agent, priority 10
      guard/inner                   agent, priority 20
        step
          guard/step-guard          agent, priority 0
            model
              guard/model-guard     agent, priority 0
            toolCall
              guard/toolCall-guard  agent, priority 0

Extensions: audit, guard
Tools:      clock__now, agents__request, agents__send, agents__list, agents__catalog
`);
});

test('runs no code of the bundle without --load, and with it only after trust', async () => {
  const mark = join(place.folder, 'mark');
  await place.write('bundle', { 'goondan.yaml': sampleBundle(tellTale), 'tell-tale.ts': tellTale.module(mark) });
  expect((await place.run('explain', 'bundle')).exitCode).toBe(0);
  expect(await place.run('explain', 'bundle', '--load')).toEqual(refusal(3, 'E_UNTRUSTED: '));
  expect(existsSync(mark)).toBe(false);
  expect((await place.run('explain', 'bundle', '--load', '--trust')).exitCode).toBe(0);
  expect(existsSync(mark)).toBe(true);
});

test('--load of an agent that cannot be loaded: the reason, exit 1', async () => {
  await place.write('bundle', {
    'goondan.yaml': sampleBundle(tellTale),
    'tell-tale.ts': `export function register() { throw new Error('not today'); }\n`,
  });
  const { stdout, stderr, exitCode } = await place.run('explain', 'bundle', '--load', '--trust');
  expect(stderr).toContain('not today');
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
});

test('a value missing in the environment does not stop it', async () => {
  const agent = 'environment: { CITY: { valueFrom: { env: NOBODY_SET_THIS } } }';
  await place.write('bundle', { 'goondan.yaml': sampleBundle({ agent }) });
  const { stdout, exitCode } = await place.run('explain', 'bundle', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ agent: 'host', source: 'declared' });
  expect(exitCode).toBe(0);
});
