// Tests `gdn run` with bundles that use the scripted model, in real processes where that matters.
import { describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Swarm } from '@goondan/runtime';
import { controlSocketPath, systemSocketEnvironment } from '@goondan/runtime/control';
import { serveControl } from '../../../runtime/src/orchestrator/control/serve-control.ts';
import { readVersion } from '../read-version.ts';
import { openPlace, outputOf, refusal } from '../testing/open-place.ts';
import { sampleBundle, tellTale, withExtension } from '../testing/sample-bundle.ts';
import { sampledCases } from '../../../../test/samples.ts';
import { until } from '../../../../test/until.ts';

const place = openPlace();

const slow = { script: `- { say: '${'word '.repeat(2_000)}' }`, options: 'tokensPerSecond: 20' };

/** An extension whose step never ends when the input asks it to wait, not even after a cancel. */
const deaf = (mark: string) => `import { appendFileSync } from 'node:fs';
export function register({ pipeline }) {
  pipeline.register('step', async (ctx) => {
    if (ctx.turn.inputEvent.input !== 'Wait') return ctx.next();
    appendFileSync(${JSON.stringify(mark)}, 'x');
    return new Promise(() => undefined);
  });
}
`;

/** A connector that writes a file when it is imported, and needs a secret. */
const doorbell = {
  more: [
    'kind: Connector\nmetadata: { name: doorbell }\nspec: { entry: ./doorbell.ts, events: [{ name: ring }] }',
    [
      'apiVersion: goondan.ai/v1\nkind: Connection\nmetadata: { name: front-door }\nspec:',
      'connectorRef: Connector/doorbell',
      'secrets: { token: { valueFrom: { env: DOORBELL_TOKEN } } }',
      'ingress: { rules: [{ route: { instanceKey: door } }] }',
    ].join('\n  '),
  ].join('\n---\n'),
  module: (mark: string) => `${tellTale.module(mark)}export default async () => undefined;\n`,
};

/** An extension whose first step blocks its process; `mark` is the file that tells that it did. */
const blockOnce = (mark: string) => `import { existsSync, writeFileSync } from 'node:fs';
export function register({ pipeline }) {
  pipeline.register('step', (ctx) => {
    if (existsSync(${JSON.stringify(mark)})) return ctx.next();
    writeFileSync(${JSON.stringify(mark)}, '');
    for (;;);
  });
}
`;

/** An extension whose step waits until the file exists. */
const waitsFor = (mark: string) => `import { existsSync } from 'node:fs';
export function register({ pipeline }) {
  pipeline.register('step', async (ctx) => {
    while (!existsSync(${JSON.stringify(mark)})) await Bun.sleep(10);
    return ctx.next();
  });
}
`;

test('one question starts no connection and needs none of their secrets, unless --connections is given', async () => {
  const mark = join(place.folder, 'mark');
  const files = { 'goondan.yaml': sampleBundle({ more: doorbell.more }), 'doorbell.ts': doorbell.module(mark) };
  await place.write('bundle', files);
  const ask = ['run', 'bundle', '--trust', '--input', 'Hello'];
  expect(await place.run(...ask)).toEqual({ stdout: 'You said: Hello\n', stderr: '', exitCode: 0 });
  const replayed = await place.run('replay', '--bundle', 'bundle', '--trust');
  expect({ exitCode: replayed.exitCode, stderr: replayed.stderr }).toEqual({ exitCode: 0, stderr: '' });
  const explained = await place.run('explain', 'bundle', '--load', '--trust');
  expect({ exitCode: explained.exitCode, stderr: explained.stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(existsSync(mark)).toBe(false);

  const refused = await place.run(...ask, '--connections');
  expect(refused.stderr).toContain('\nE_ENV_MISSING: An environment variable is not set: DOORBELL_TOKEN (Connection/');
  expect([refused.exitCode, existsSync(mark)]).toEqual([3, false]);
  const patient = 'kind: Extension\nmetadata: { name: patient }\nspec: { entry: ./patient.ts }';
  const more = `${patient}\n---\napiVersion: goondan.ai/v1\n${doorbell.more}`;
  await place.write('bundle', {
    'goondan.yaml': sampleBundle({ agent: 'extensions: [Extension/patient]', more }),
    'patient.ts': waitsFor(mark),
  });
  const env = { DOORBELL_TOKEN: 'a long enough secret' };
  expect((await place.runWith({ env }, ...ask, '--connections')).stdout).toBe('You said: Hello\n');
  expect(existsSync(mark)).toBe(true);
});

describe('gdn run --input', () => {
  test('--json: one object; --agent and --instance choose; - reads standard input', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle({ agents: ['helper'] }) });
    const choice = ['--agent', 'helper', '--instance', 'a/b'];
    const { stdout, stderr, exitCode } = await place.runProcessWith(
      { stdin: 'Piped\n' },
      ...['run', 'bundle', '--trust', '--input', '-', '--json', ...choice],
    );
    expect(JSON.parse(stdout)).toEqual({
      agent: 'helper',
      instanceKey: 'a/b',
      turnId: expect.stringMatching(/^turn-event-./),
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      response: 'You said: Piped',
      finishReason: 'text_response',
      steps: 1,
      usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number), totalTokens: expect.any(Number) },
    });
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  });

  test('a failing turn: the error in the object and on standard error, exit 1', async () => {
    const script = `- { fail: { message: 'Overloaded.' } }`;
    await place.write('bundle', { 'goondan.yaml': sampleBundle({ script }) });
    const { stdout, stderr, exitCode } = await place.run('run', 'bundle', '--trust', '--input', 'Hello', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      finishReason: 'error',
      response: '',
      error: { code: 'E_MODEL_FAILED' },
      input: 'kept',
    });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'E_MODEL_FAILED', message: 'Overloaded.' } });
    expect(exitCode).toBe(1);
  });

  test('a failed input stays in the conversation: the command says so once, and how to go on without it', async () => {
    const fail = `- { when: '^bad', fail: { message: 'Overloaded.' } }\n- { say: 'You said: {{input}}' }`;
    await place.write('bundle', { 'goondan.yaml': sampleBundle({ script: fail }) });
    const ask = (input: string, ...more: string[]) =>
      place.run('run', 'bundle', '--trust', '--input', input, '--json', ...more);
    const { turnId } = JSON.parse((await ask('good')).stdout);
    const { stderr } = await place.run('run', 'bundle', '--trust', '--input', 'bad');
    const [, , said, ...rest] = stderr.split('\n');
    expect(rest).toEqual(['']);
    expect(said).toMatchInlineSnapshot(
      `"The input stays in the conversation, and the model sees it with the next one. To go on without it, type \`gdn fork host default --at TURN --as KEY --bundle bundle\` with an earlier turn of \`gdn history host default --bundle bundle\`."`,
    );
    const fork = ['--at', turnId, '--as', 'clean', '--bundle', 'bundle'];
    expect((await place.run('fork', 'host', 'default', ...fork)).exitCode).toBe(0);
    outputOf(await ask('again', '--instance', 'clean'));
    const shown = (await place.run('instance', 'show', 'host', 'clean', '--bundle', 'bundle')).stdout;
    expect([shown.includes('good'), shown.includes('bad')]).toEqual([true, false]);
  });

  test('an agent that does not start fails its turn, too', async () => {
    const files = { 'goondan.yaml': sampleBundle(tellTale), 'tell-tale.ts': `throw new Error('Broken at import.');` };
    await place.write('bundle', files);
    const { stdout, stderr, exitCode } = await place.run('run', 'bundle', '--trust', '--input', 'Hello', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ finishReason: 'error' });
    expect(stderr).toContain('Broken at import.');
    expect(exitCode).toBe(1);
  });

  test('events that the turn sends to other agents are handled before it ends, also after a blocked process', async () => {
    const script = [
      `- { when: '^tell$', call: { tool: agents__send, args: { target: helper, input: 'Note this' } } }`,
      `- { afterTool: agents__send, say: 'Told.' }`,
      `- { say: 'Noted: {{input}}' }`,
    ].join('\n');
    const swarm = 'policy: { spares: 0, heartbeat: { everyMs: 250, missedPings: 4 } }';
    const { more } = withExtension('block-once');
    const yaml = sampleBundle({ script, swarm, more, agents: ['helper'], agent: 'tools: [Tool/agents]' });
    await place.write('bundle', {
      'goondan.yaml': yaml.replace('name: helper }\nspec:\n', '$&  extensions: [Extension/block-once]\n'),
      'block-once.ts': blockOnce(join(place.folder, 'blocked')),
    });
    const { stdout } = await place.run('run', 'bundle', '--trust', '--input', 'tell');
    expect(stdout).toBe('Told.\n');
    const files = new Bun.Glob('workspaces/*/instances/helper~*/messages/*.jsonl').scanSync(place.stateRoot);
    const texts = await Promise.all([...files].map((file) => Bun.file(join(place.stateRoot, file)).text()));
    expect(texts.join('')).toContain('Noted: Note this');
  });

  test('events for an agent whose process ends at each start are left to later runs', async () => {
    const script = `- { when: '^tell$', call: { tool: agents__send, args: { target: helper, input: 'Note this' } } }`;
    const { more } = withExtension('leaves');
    const yaml = sampleBundle({
      script: `${script}\n- { say: 'Told.' }`,
      more,
      agents: ['helper'],
      agent: 'tools: [Tool/agents]',
    });
    await place.write('bundle', {
      'goondan.yaml': yaml.replace('name: helper }\nspec:\n', '$&  extensions: [Extension/leaves]\n'),
      'leaves.ts': 'process.exit(1);',
    });
    for (const input of ['tell', 'hello']) {
      const { stdout, stderr } = await place.run('run', 'bundle', '--trust', '--input', input);
      expect([stdout, stderr.includes('not handled yet')]).toEqual(['Told.\n', false]);
    }
  });

  test('on a terminal: the answer word by word, or what runs now; Ctrl-C cancels the turn, exit 130', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle(slow) });
    const { screen, exitCode } = await place.runOnTerminal(
      ['run', 'bundle', '--trust', '--input', 'Hello'],
      [{ whenSeen: 'word word word', keys: '\x03' }],
    );
    expect(screen).toContain('\nE_CANCELLED: The turn was cancelled.\nSend the input again to retry.\n');
    expect(exitCode).toBe(130);
    const typing = [{ whenSeen: ' s · host · model call', keys: '\x03' }];
    const json = await place.runOnTerminal(['run', 'bundle', '--trust', '--input', 'Hello', '--json'], typing);
    expect(json).toMatchObject({ exitCode: 130, screen: expect.stringContaining('"E_CANCELLED"') });
  });

  test('SIGINT without a terminal: the object shows the cancel, exit 130; the agent cleans up before it ends', async () => {
    const mark = join(place.folder, 'clean');
    await place.write('bundle', {
      'goondan.yaml': sampleBundle({
        ...slow,
        ...withExtension('tidy'),
      }),
      'tidy.ts': `import { writeFileSync } from 'node:fs';
        export const register = () => async () => {
          await Bun.sleep(300);
          writeFileSync(${JSON.stringify(mark)}, '');
        };`,
    });
    const child = place.start('run', 'bundle', '--trust', '--input', 'Hello', '--json');
    await until(() => place.processes().some((line) => line.includes('agent-runner')) && isAnyInboxFilled());
    child.kill('SIGINT');
    expect(JSON.parse(await child.stdout.text())).toMatchObject({ error: { code: 'E_CANCELLED' } });
    expect(await child.exited).toBe(130);
    expect(existsSync(mark)).toBe(true);

    function isAnyInboxFilled(): boolean {
      const inboxes = new Bun.Glob('workspaces/*/inbox/inbox.*.jsonl').scanSync(place.stateRoot);
      return [...inboxes].some((file) => readFileSync(join(place.stateRoot, file), 'utf8').includes('"event":'));
    }
  });

  test('Ctrl-C twice: the next run does not continue the turn, and the history shows its end', async () => {
    const mark = join(place.folder, 'begun');
    await place.write('bundle', {
      'goondan.yaml': sampleBundle(withExtension('deaf')),
      'deaf.ts': deaf(mark),
    });
    const child = place.start('run', 'bundle', '--trust', '--input', 'Wait');
    await until(() => existsSync(mark));
    for (let count = 0; count < 2; count++) {
      child.kill('SIGINT');
      // Waits, because two signals at the same moment would count as one.
      await Bun.sleep(20);
    }
    expect(await child.exited).toBe(130);
    expect(await place.run('run', 'bundle', '--trust', '--input', 'Hello')).toMatchObject({
      stdout: 'You said: Hello\n',
      exitCode: 0,
    });
    expect(readFileSync(mark, 'utf8')).toBe('x');
    const { stdout } = await place.run('history', 'host', 'default', '--bundle', 'bundle', '--json');
    expect(stdout).toContain('E_CANCELLED');
    expect(stdout).toContain('Wait');
  });

  test('prints the answer and nothing else, and leaves nothing running; two at the same time share one swarm', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    const ask = (input: string) => place.runProcess('run', 'bundle', '--trust', '--instance', input, '--input', input);
    const [one, other] = await Promise.all([ask('one'), ask('other')]);
    expect(one).toEqual({ stdout: 'You said: one\n', stderr: '', exitCode: 0 });
    expect(other).toEqual({ stdout: 'You said: other\n', stderr: '', exitCode: 0 });
    expect(place.processes()).toEqual([]);
  });

  test('a bundle with errors: all of them on standard error, exit 4', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle({ agent: 'toolz: []' }) });
    const { stdout, stderr, exitCode } = await place.run('run', 'bundle', '--trust', '--input', 'Hello');
    expect(stderr).toMatch(/^bundle\/goondan\.yaml:\d+:\d+ E_RESOURCE_KEY Agent\/host: /);
    expect(stderr).toContain(`\nE_BUNDLE_INVALID: The bundle in "${place.folder}/bundle" has an error.\n`);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 4 });
  });

  test.each([
    [
      'a value that is not set',
      { agent: 'environment: { CITY: { valueFrom: { env: NOT_SET } } }' },
      [],
      'E_ENV_MISSING',
      3,
    ],
    ['an unknown swarm', {}, ['--swarm', 'other'], 'E_SWARM_UNKNOWN', 3],
    ['an unknown agent', {}, ['--agent', 'nobody'], 'E_AGENT_UNKNOWN', 3],
    ['an empty input', {}, ['--input', ' '], 'E_USAGE', 2],
    ['an input for a detached swarm', {}, ['--detach'], 'E_USAGE', 2],
  ])('%s', async (_name, sample, args, code, expected) => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle(sample) });
    const refused = await place.run('run', 'bundle', '--trust', '--input', 'Hello', ...args);
    expect(refused).toEqual(refusal(expected, new RegExp(`^${code}: `, 'm')));
  });
});

test('without trust no code of the bundle runs: says so, with the command to trust it, exit 3', async () => {
  const mark = join(place.folder, 'mark');
  await place.write('bundle', { 'goondan.yaml': sampleBundle(tellTale), 'tell-tale.ts': tellTale.module(mark) });
  for (const args of [['--input', 'Hello'], ['--detach'], []]) {
    const { stdout, stderr, exitCode } = await place.run('run', 'bundle', ...args);
    expect(stderr).toStartWith(`E_UNTRUSTED: The code in "${place.folder}/bundle" is not trusted yet.\n`);
    expect(stderr).toContain('add `--trust` to this command');
    expect(stderr).toContain(`run \`gdn run ${place.folder}/bundle\` at a terminal`);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
  }
  const elsewhere = await place.run('run', 'bundle', '--state-root', join(place.folder, 'else'));
  expect(elsewhere.stderr).toContain(`run \`gdn run ${place.folder}/bundle --state-root ${place.folder}/else\` at`);
  expect(existsSync(mark)).toBe(false);
});

describe('gdn run without --input', () => {
  const signals = [
    ['SIGTERM', 0],
    ['SIGINT', 130],
  ] as const;
  test.each([...sampledCases(signals, 2, 1)])('serves until %s', async (signal, code) => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    const child = place.start('run', 'bundle', '--trust', '--json');
    const reader = child.stdout.getReader();
    const served: unknown = JSON.parse(new TextDecoder().decode((await reader.read()).value));
    expect(served).toEqual({ pid: expect.any(Number), workspace: expect.any(String), swarm: 'default' });
    expect((await place.run('run', 'bundle', '--input', 'attached')).stdout).toBe('You said: attached\n');
    child.kill(signal);
    expect(await child.exited).toBe(code);
    expect(await child.stderr.text()).toBe('');
  });
});

describe('gdn run --detach', () => {
  test('prints its process when it accepts input, and says when it already runs; without --detach that is an error, exit 3', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    const stdout = outputOf(await place.run('run', 'bundle', '--trust', '--detach', '--json'));
    const served: { pid: number; workspace: string; swarm: string } = JSON.parse(stdout);
    expect(served).toEqual({ pid: expect.any(Number), workspace: expect.any(String), swarm: 'default' });
    expect(existsSync(join(served.workspace, 'orchestrator.json'))).toBe(true);
    expect(JSON.parse((await place.run('run', 'bundle', '--detach', '--json')).stdout)).toEqual(served);
    const again = await place.run('run', 'bundle', '--detach');
    expect(again.stderr).toStartWith(`Already runs: swarm "default", process ${served.pid}. `);
    const refused = await place.run('run', 'bundle', '--trust');
    expect(refused.stderr).toContain('E_SWARM_RUNNING: Swarm default runs in ');
    expect(refused.stderr).toContain(`\`gdn stop --bundle ${join(place.folder, 'bundle')}\`.\n`);
    expect(refused.exitCode).toBe(3);
    expect((await place.run('run', 'bundle', '--input', 'Hello')).stdout).toBe('You said: Hello\n');
    process.kill(served.pid, 'SIGTERM');
  });

  test('says when another version runs the swarm, and how to replace it', async () => {
    const folder = await place.write('bundle', { 'goondan.yaml': sampleBundle({ swarm: 'workspace: shop' }) });
    expect((await place.run('run', folder, '--trust', '--input', 'Hi')).exitCode).toBe(0);
    const workspace = join(place.stateRoot, 'workspaces/shop');
    const about = {
      swarm: 'default',
      workspaceId: 'shop',
      pid: 7,
      startedAt: new Date().toISOString(),
      version: '0.0.9',
    };
    const status = { ...about, entryAgent: 'host', agents: ['host'], instances: [], connections: [] };
    // The cast is safe: the command asks only for the status.
    const older = { status: async () => status } as unknown as Swarm;
    const server = await serveControl(older, { path: controlSocketPath(workspace, 'shop', systemSocketEnvironment()) });
    try {
      const found = await place.run('run', 'bundle', '--detach');
      expect(found.stderr).toBe(
        `Already runs: swarm "default", process 7. Its logs: ${workspace}/logs\n` +
          `note: Version 0.0.9 of Goondan runs this swarm; this command is version ${readVersion()}. ` +
          'To replace it, type `gdn stop --bundle bundle`, then this command again.\n',
      );
      const asked = await place.run('run', 'bundle', '--detach', '--json');
      expect(asked.stderr).toBe('');
      expect(JSON.parse(asked.stdout)).toEqual({ pid: 7, workspace, swarm: 'default', version: '0.0.9' });
    } finally {
      await server.close();
    }
  });

  test('waits until its connections listen, and prints those that do not, with the reason', async () => {
    const more = ['good', 'bad'].map(
      (name) =>
        `kind: Connector\nmetadata: { name: ${name} }\nspec: { entry: ./${name}.ts }\n---\napiVersion: goondan.ai/v1\nkind: Connection\nmetadata: { name: ${name} }\nspec: { connectorRef: Connector/${name}, ingress: { rules: [{ route: {} }] } }`,
    );
    await place.write('bundle', {
      'goondan.yaml': sampleBundle({ more: more.join('\n---\napiVersion: goondan.ai/v1\n') }),
      'good.ts': `export default async () => {};\n`,
      'bad.ts': `export default async () => { throw new Error('the port is taken'); };\n`,
    });
    const { stderr, exitCode } = await place.run('run', 'bundle', '--trust', '--detach');
    expect(stderr).toContain(
      'Connection/bad does not listen yet: E_CONNECTOR_START: Connector/bad failed before it listened: the port is taken (bad.ts:1:40)\n',
    );
    expect([exitCode, stderr.includes('Connection/good')]).toEqual([0, false]);
    expect((await place.run('stop', '--bundle', 'bundle')).exitCode).toBe(0);
    const { stdout } = await place.run('run', 'bundle', '--trust', '--detach', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      waiting: [{ connection: 'bad', problem: expect.stringContaining('taken') }],
    });
    expect((await place.run('stop', '--bundle', 'bundle')).exitCode).toBe(0);
  });

  test('an error at the start is printed by the starting command', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    expect((await place.run('run', 'bundle', '--trust', '--input', 'Hello')).exitCode).toBe(0);
    const [workspace = ''] = readdirSync(join(place.stateRoot, 'workspaces'));
    const lockFile = join(place.stateRoot, 'workspaces', workspace, 'orchestrator.json');
    expect(existsSync(lockFile)).toBe(true);
    rmSync(lockFile);
    mkdirSync(lockFile);
    const { stdout, stderr, exitCode } = await place.run('run', 'bundle', '--trust', '--detach', '--json');
    expect(JSON.parse(stderr)).toEqual({
      error: expect.objectContaining({ code: expect.stringMatching(/^E_STORE_/) }),
    });
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
  });
});
