import { afterEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EditedTexts, examineTexts, writeTexts } from './examine-texts.ts';
import { completeBundle, completeEnvironment, temporaryBundle } from '../../../testing/temporary-bundle.ts';
import type { Candidate, Examination, ExaminationRequest } from '../../examination.ts';
import { loadBundle } from '../load-bundle.ts';
import { resolveSwarm } from '../resolve/resolve-swarm.ts';
import type { ExaminedBundle } from './examine-changeset.ts';

const opened: Disposable[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each[Symbol.dispose]();
});

function openBundle(files: Readonly<Record<string, string>>): string {
  const bundle = temporaryBundle(files);
  opened.push(bundle);
  return bundle.folder;
}

async function planOf(folder: string, source: Partial<ExaminedBundle> = {}) {
  const bundle = await loadBundle(folder, { environment: completeEnvironment });
  return resolveSwarm(bundle, { environment: completeEnvironment, ...source }).plan;
}

function examine(
  bundleFolder: string,
  texts: EditedTexts,
  request: Partial<ExaminationRequest> = {},
  source: Partial<ExaminedBundle> = {},
): Promise<Examination> {
  return examineTexts({ bundleFolder, environment: completeEnvironment, ...source }, texts, request);
}

function candidateOf(examination: Examination): Candidate {
  if (examination.status === 'fits') return examination.candidate;
  throw new Error(JSON.stringify(examination, undefined, 2));
}

const text = (file: string) => completeBundle[file] ?? '';
const hooked = (agents: string) =>
  agents.replace(
    '  environment: {',
    '  workdir: ./work\n  hooks: [{ point: toolCall.pre, action: { command: [./check.sh] } }]\n  environment: {',
  );

const newTool = `
---
apiVersion: goondan.ai/v1
kind: Tool
metadata: { name: clock }
spec:
  entry: ./tools/clock.ts
  exports: [{ name: now, description: The time. }]
`;
const newExtension = `
---
apiVersion: goondan.ai/v1
kind: Extension
metadata: { name: notes }
spec: { entry: ./extensions/notes.ts, innermost: true, config: { size: 3 } }
`;
const files = {
  ...completeBundle,
  'agents.yaml': hooked(text('agents.yaml')),
  'work/notes.txt': 'x',
  'check.sh': 'exit 0\n',
  '.env': 'REGION=us\n',
};
/** Every kind of change that is permitted. */
const edits: EditedTexts = {
  'agents.yaml': hooked(text('agents.yaml'))
    .replace('Tool/agents]', 'Tool/agents, { ref: Tool/clock, config: { zone: utc } }]')
    .replace('{ level: debug } }]', '{ level: debug } }, Extension/notes]')
    .replace('books.', 'many books.'),
  'parts.yml': text('parts.yml') + newTool + newExtension,
  'prompts/host.md': 'You are a kind host.\n',
  'tools/clock.ts':
    "import { now } from './clock/now';\nexport const handlers = { now: async () => (await import('./clock/now')) && now };\n",
  'tools/clock/now.ts': 'export const now = 3;\n',
  'extensions/notes.ts':
    "import { celsius } from '../tools/celsius';\nexport function register() { return celsius; }\n",
};

function openExecutable(more: Readonly<Record<string, string>> = {}): string {
  const folder = openBundle({ ...files, ...more });
  chmodSync(join(folder, 'check.sh'), 0o755);
  return folder;
}

test('the policy may name the files that agents may change', async () => {
  const goondan = text('goondan.yaml').replace('policy: {', "policy: { changes: { allow: ['prompts/host.md'] },");
  const folder = openBundle({ ...completeBundle, 'goondan.yaml': goondan });
  expect(goondan).not.toBe(text('goondan.yaml'));
  const examination = await examine(folder, { 'prompts/host.md': 'Hello.\n' }, { allow: ['prompts/host.md'] });
  expect(examination.status).toBe('fits');
});

describe('the wanted plan is the plan of the bundle after the same files are written', () => {
  async function expectSamePlan(folder: string, texts: EditedTexts, source: Partial<ExaminedBundle> = {}) {
    const present = await planOf(folder, source);
    const candidate = candidateOf(await examine(folder, texts, {}, source));
    expect(candidate.present).toStrictEqual(present);
    writeTexts(folder, texts);
    const onDisk = await planOf(folder, source);
    expect(onDisk).not.toEqual(present);
    expect(candidate.wanted).toStrictEqual(onDisk);
    return candidate;
  }

  test('with prompts, hooks, a new tool, a new extension, a relative workdir and a lock file', async () => {
    const candidate = await expectSamePlan(openExecutable({ 'package-lock.json': '{}' }), edits);
    expect(candidate.addedTools).toEqual(['clock']);
    const [host] = candidate.wanted.agents;
    expect(host?.workdir).toBe(join(host?.bundleFolder ?? '', 'work'));
    expect(host?.packages).toBeString();
    expect(host?.tools?.at(-1)).toMatchObject({ files: ['tools/clock.ts', 'tools/clock/now.ts'], lazy: true });
  });

  test('with a workdir and without connections, as the swarm was started', async () => {
    await expectSamePlan(openExecutable(), edits, { workdir: tmpdir(), connections: false });
  });

  test('with packages of the bundle, of a folder above it, and of its own folder', async () => {
    const above = realpathSync(mkdtempSync(join(tmpdir(), 'goondan-above-')));
    opened.push({ [Symbol.dispose]: () => rmSync(above, { recursive: true, force: true }) });
    const folder = join(above, 'deep', 'bundle');
    const home = (name: string) => `{"name":"${name}","version":"1.0.0","main":"index.js"}`;
    writeTexts(above, {
      ...Object.fromEntries(Object.entries(files).map(([path, each]) => [`deep/bundle/${path}`, each])),
      'deep/bundle/extensions/guard.ts':
        "import 'near'; import 'far'; import 'own'; import '../../shared.ts'; import '#rules'; export function register() {}\n",
      'deep/bundle/rules.ts': 'export const rules = 1;\n',
      'deep/bundle/node_modules/near/package.json': home('near'),
      'deep/bundle/node_modules/near/index.js': '',
      'deep/bundle/packages/own/package.json': home('own'),
      'deep/bundle/packages/own/index.js': '',
      'deep/shared.ts': 'export {};\n',
      'deep/package.json': '{"name":"deep","imports":{"#rules":"./bundle/rules.ts"}}',
      'node_modules/far/package.json': home('far'),
      'node_modules/far/index.js': '',
      'bun.lock': '{}',
    });
    symlinkSync('../packages/own', join(folder, 'node_modules', 'own'));
    chmodSync(join(folder, 'check.sh'), 0o755);
    const { wanted } = await expectSamePlan(folder, edits);
    const [guard] = wanted.agents[0]?.extensions ?? [];
    expect(guard?.files).toEqual(['extensions/guard.ts', 'rules.ts']);
  });

  test('with a link inside the bundle, and one that leads out of it', async () => {
    const folder = openExecutable({ 'real/rules.ts': 'export const rules = 1;\n' });
    const outside = openBundle({ 'lib.ts': 'export {};\n' });
    symlinkSync(join(folder, 'real'), join(folder, 'linked'));
    symlinkSync(outside, join(folder, 'outside'));
    writeTexts(folder, {
      'extensions/guard.ts': "import '../linked/rules'; import '../outside/lib'; export function register() {}\n",
    });
    const { wanted } = await expectSamePlan(folder, edits);
    expect(wanted.agents[0]?.extensions?.[0]?.files).toEqual(['extensions/guard.ts', 'real/rules.ts']);
  });

  test('with a module and a lock file that are too large to be hashed', async () => {
    const folder = openExecutable({ 'extensions/large.json': '1', 'bun.lock': '' });
    truncateSync(join(folder, 'bun.lock'), 21 * 1024 * 1024);
    truncateSync(join(folder, 'extensions/large.json'), 6 * 1024 * 1024);
    writeTexts(folder, { 'extensions/guard.ts': "import './large.json'; export function register() {}\n" });
    await expectSamePlan(folder, edits);
  });
});

test('a state root inside the bundle is not copied', async () => {
  const folder = openExecutable({ 'state/huge.bin': '' });
  truncateSync(join(folder, 'state/huge.bin'), 300 * 1024 * 1024);
  const examined = await examine(folder, edits, {}, { stateRoot: join(folder, 'state') });
  expect(examined.status).toBe('fits');
  const refused = examine(folder, edits);
  expect(refused).rejects.toMatchObject({ code: 'E_CHANGESET_LIMIT' });
});

test('the digest of the files changes with an edit and returns with its opposite', async () => {
  const folder = openExecutable();
  const first = candidateOf(await examine(folder, { 'prompts/host.md': 'Other.\n' }));
  writeTexts(folder, { 'prompts/host.md': 'Other.\n' });
  const second = candidateOf(await examine(folder, { 'prompts/host.md': text('prompts/host.md') }));
  expect(first.newRef).not.toBe(first.baseRef);
  expect([second.baseRef, second.newRef]).toEqual([first.newRef, first.baseRef]);
});

test('errors of the changed bundle are listed with their places, and never with the trial folder', async () => {
  const folder = openExecutable();
  const examined = await examine(folder, {
    'agents.yaml': (edits['agents.yaml'] ?? '').replace('Tool/clock', 'Tool/clok'),
    'parts.yml': edits['parts.yml'] ?? '',
    'extensions/notes.ts': 'export const = ;\n',
  });
  expect(examined).toMatchObject({ status: 'rejected', reason: 'invalid_files' });
  const { violations = [] } = examined as { readonly violations?: readonly string[] };
  expect(violations).toHaveLength(3);
  for (const each of violations) expect(each).toMatch(/^(?:agents\.yaml|parts\.yml):\d+:\d+ /);
  expect(JSON.stringify(examined)).not.toContain('goondan-trial-');
});

test('a changed bundle with more imports than are checked is invalid', async () => {
  const imports = Array.from({ length: 600 }, (_, index) => `await import('./n${index}').catch(() => 0);`);
  const code = `${edits['tools/clock.ts'] ?? ''}${imports.join('\n')}\n`;
  expect(await examine(openExecutable(), { ...edits, 'tools/clock.ts': code })).toMatchObject({
    status: 'rejected',
    reason: 'invalid_files',
    message: expect.stringContaining('was not checked from tools/clock.ts on'),
  });
});

test('a bundle that is invalid already is a conflict, and so is a missing value', async () => {
  const folder = openExecutable();
  const missing = await examine(folder, { 'prompts/host.md': 'x' }, {}, { environment: {} });
  expect(missing).toMatchObject({
    status: 'rejected',
    reason: 'conflict',
    violations: [expect.stringContaining('TEAM_KEY')],
  });
  mkdirSync(join(folder, 'broken'), { recursive: true });
  writeFileSync(join(folder, 'more.yaml'), 'apiVersion: goondan.ai/v1\nkind: Agent\n');
  expect(await examine(folder, { 'prompts/host.md': 'x' })).toMatchObject({
    status: 'rejected',
    reason: 'conflict',
  });
});
