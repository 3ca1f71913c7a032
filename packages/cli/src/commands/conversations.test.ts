// Tests with real agents: conversations, logs and dead letters as `gdn` shows them.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { sampleStep } from '../../../../test/samples.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { commandsAbout, refusal } from '../testing/open-place.ts';
import { sampleBundle, tellTale } from '../testing/sample-bundle.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(60_000);

const place = new GdnPlace();
const { gdn, json } = commandsAbout(place);
const leave = async () => expect(await place.remove()).toEqual([]);

describe('gdn instance', () => {
  // One swarm had three turns. What it showed while it ran is compared with what is shown after its end.
  let awake: { list: object[]; shown: object; exported: { exportedAt: string } };
  beforeAll(async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle({ agents: ['helper', 'idle'] }) });
    expect(await gdn('instance list --json')).toEqual({ stdout: '[]\n', stderr: '', exitCode: 0 });
    const early = await gdn('instance show host default');
    expect((await gdn('logs')).stderr).toBe(
      'Swarm "default" has not run yet, so there is no log. Start it with `gdn run bundle --detach`.\n',
    );
    expect(early.stderr).toBe(
      'E_INSTANCE_UNKNOWN: There are no conversations yet.\n' +
        'Begin one with `gdn run bundle --input TEXT`, or type `gdn run bundle` to chat.\n',
    );
    expect({ stdout: early.stdout, exitCode: early.exitCode }).toEqual({ stdout: '', exitCode: 3 });
    expect(existsSync(place.stateRoot)).toBe(false);
    await place.serve('bundle');
    for (const line of ['--input Hi', '--input Ho', '--input Ho --agent helper --instance a/b'])
      expect((await gdn(`send --wait ${line}`)).exitCode).toBe(0);
    awake = {
      list: await json('instance list --json'),
      shown: await json('instance show helper a/b --json'),
      exported: await json('instance export host default --history'),
    };
    expect((await gdn('stop')).exitCode).toBe(0);
  });
  afterAll(leave);

  test('list and show: the same with and without a running swarm', async () => {
    const asleep = await json('instance list --json');
    expect(asleep).toEqual([
      {
        agent: 'helper',
        instanceKey: 'a/b',
        status: 'asleep',
        messages: 2,
        updatedAt: expect.stringMatching(/^20.*Z$/),
      },
      { agent: 'host', instanceKey: 'default', status: 'asleep', messages: 4, updatedAt: expect.any(String) },
    ]);
    expect(awake.list).toEqual(asleep.map((each: object) => ({ ...each, status: 'idle' })));
    const shown = await json('instance show helper a/b --json');
    expect(shown).toMatchObject({ agent: 'helper', instanceKey: 'a/b', extensions: {} });
    expect(shown.messages.map(({ data }: { data: { role: string } }) => data.role)).toEqual(['user', 'assistant']);
    for (const field of ['id', 'data', 'metadata', 'createdAt', 'source'])
      expect(shown.messages[0]).toHaveProperty(field);
    expect(awake.shown).toEqual(shown);
    expect((await gdn('instance show helper a/b')).stdout).toBe('user  Ho\nassistant  You said: Ho\n');
  });

  test('an unknown conversation: exit 3', async () => {
    const { stdout, stderr, exitCode } = await gdn('instance show idle other');
    expect(stderr).toStartWith(
      'E_INSTANCE_UNKNOWN: Agent "idle" has no conversations. Agents with conversations: helper, host.\n',
    );
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
    expect((await gdn('instance show host defualt')).stderr).toBe(
      'E_INSTANCE_UNKNOWN: Agent "host" has no conversation "defualt".\n' +
        'Did you mean `default`? `gdn instance list --bundle bundle` lists the conversations.\n',
    );
    expect((await gdn('instance show hots default')).stderr).toBe(
      'E_INSTANCE_UNKNOWN: Agent "hots" has no conversations. Agents with conversations: helper, host.\n' +
        'Did you mean `host`? `gdn instance list --bundle bundle` lists the conversations.\n',
    );
    const mistyped = await gdn('instance export host defualt');
    expect(mistyped.stderr).toContain('\nDid you mean `default`?');
    expect({ stdout: mistyped.stdout, exitCode: mistyped.exitCode }).toEqual({ stdout: '', exitCode: 3 });
  });

  test('export: one whole conversation, to standard output or to a file that only its owner can read', async () => {
    const asleep = await json('instance export host default --history');
    const shown = await json('instance show host default --json');
    expect(asleep).toMatchObject({ formatVersion: 1, ...shown, version: 2, inputs: [], deadLetters: [] });
    expect(asleep.history.map(({ result }: { result: { finishReason: string } }) => result.finishReason)).toEqual([
      'text_response',
      'text_response',
    ]);
    expect(asleep.history[0].events.map(({ author }: { author: { kind: string } }) => author.kind)).toEqual([
      'input',
      'model',
    ]);
    expect({ ...awake.exported, exportedAt: asleep.exportedAt }).toEqual(asleep);

    const file = join(place.folder, 'out.json');
    expect((await gdn(`instance export host default --history --output ${file}`)).stdout).toBe(
      `Wrote 4 messages and 2 turns to ${file}.\n`,
    );
    expect({ ...(await Bun.file(file).json()), exportedAt: asleep.exportedAt }).toEqual(asleep);
    expect(statSync(file).mode & 0o777).toBe(0o600);

    expect(await gdn(`instance export host default --output ${file}`)).toEqual({
      stdout: '',
      stderr: `E_OUTPUT_FILE: "${file}" is there already, and was left alone.\nChoose another name, or add \`--force\` to replace it.\n`,
      exitCode: 3,
    });
    expect(await json(`instance export host default --output ${file} --force --json`)).toEqual({
      file,
      messages: 4,
      turns: 0,
    });
    expect(await Bun.file(file).json()).not.toHaveProperty('history');
    expect((await gdn('instance export host default --force')).exitCode).toBe(2);
  });
});

describe('gdn instance delete', () => {
  afterEach(leave);

  test('without a running swarm: asks at a terminal, otherwise needs --yes; the next input starts a new conversation', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    await place.run('run', 'bundle', '--trust', '--input', 'Hi');
    expect(await gdn('instance delete host default')).toEqual({
      stdout: '',
      stderr:
        'E_USAGE: To delete conversation "default" of host (2 messages) for good, confirm it.\n' +
        'Type `gdn instance delete host default --yes --bundle bundle`.\n',
      exitCode: 2,
    });
    const asked = ['instance', 'delete', 'host', 'default', '--bundle', 'bundle'];
    const whenSeen = '[y/N] ';
    // `hostile-folder.test.ts` gives all four answers to the question for trust, which is asked in the same way.
    for (const keys of sampleStep === 1 ? ['\r', 'n\r', '\x03', '\x04'] : ['\r', '\x03']) {
      const { screen, exitCode } = await place.runOnTerminal(asked, [{ whenSeen, keys }]);
      expect(screen).toContain(
        'Delete conversation "default" of host (2 messages) for good, with its history and its scratch folder? [y/N] ',
      );
      expect(screen).toContain('E_CANCELLED: Nothing was deleted.\nType the command again to retry.\n');
      expect(exitCode).toBe(130);
    }
    const early = await place.runOnTerminal(asked, [{ whenSeen, keys: '\r' }], { typedAhead: 'y\ry' });
    expect(early.screen).toContain('E_CANCELLED: Nothing was deleted.\n');
    expect(await json('instance list --json')).toHaveLength(1);
    const { screen, exitCode } = await place.runOnTerminal(asked, [{ whenSeen, keys: 'y\r' }], { typedAhead: 'n\rn' });
    expect(screen).toContain('Deleted conversation "default" of host.\n');
    expect(exitCode).toBe(0);
    expect(await json('instance list --json')).toEqual([]);
    expect((await gdn('instance delete host default --yes')).stderr).toStartWith('E_INSTANCE_UNKNOWN: ');
    await place.run('run', 'bundle', '--trust', '--input', 'Ho');
    expect((await gdn('instance show host default')).stdout).toBe('user  Ho\nassistant  You said: Ho\n');
  });

  test('in a running swarm, which keeps running; an id that was accepted before is a new input', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    await place.serve('bundle');
    await gdn('send --input Hi --id mail-1 --wait');
    const [before] = (await json('status --json')).agents;
    expect(await json('instance delete host default --yes --json')).toEqual({
      deleted: true,
      agent: 'host',
      instanceKey: 'default',
      inputs: 0,
    });
    expect(() => process.kill(before.pid, 0)).toThrow();
    expect(await json('instance list --json')).toEqual([]);
    expect((await json('send --input Again --id mail-1 --wait --json')).response).toBe('You said: Again');
    expect((await json('instance show host default --json')).messages).toHaveLength(2);
    expect((await gdn('logs --agent host')).stdout).toContain('Its conversation was deleted.');
    expect((await gdn('stop')).exitCode).toBe(0);
  });

  test('refuses to lose accepted inputs that are not handled, unless forced', async () => {
    const slow = `import { setTimeout } from 'node:timers/promises';
      export const register = (api) => api.pipeline.register('turn', async (ctx) => {
        await setTimeout(60_000, undefined, { signal: ctx.signal }).catch(() => undefined);
        return ctx.next();
      });`;
    const swarm = 'policy: { shutdown: { gracePeriodSeconds: 1 } }';
    await place.write('bundle', { 'goondan.yaml': sampleBundle({ ...tellTale, swarm }), 'tell-tale.ts': slow });
    await place.serve('bundle');
    for (const id of ['one', 'two']) expect((await gdn(`send --input Hi --id ${id}`)).exitCode).toBe(0);
    const pending =
      'E_INSTANCE_PENDING: Conversation "default" of host has 2 accepted inputs that are not handled yet.\n';
    expect(await gdn('instance delete host default --yes')).toEqual(refusal(1, pending));
    expect((await gdn('stop')).exitCode).toBe(0);
    expect((await gdn('instance delete host default --yes')).stderr).toStartWith(pending);
    expect((await gdn('instance delete host default --force')).stderr).toContain(
      '(0 messages, 2 accepted inputs that are not handled yet)',
    );
    expect((await gdn('instance delete host default --yes --force')).stdout).toBe(
      'Deleted conversation "default" of host, and 2 accepted inputs with it.\n',
    );
    expect(await json('instance list --json')).toEqual([]);
  });

  test('damaged files are deleted with --force; the next start finishes an interrupted deletion', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    await place.run('run', 'bundle', '--trust', '--input', 'Hi');
    const [workspace = ''] = readdirSync(join(place.stateRoot, 'workspaces'));
    const instances = join(place.stateRoot, 'workspaces', workspace, 'instances');
    cpSync(join(instances, 'host~default'), join(instances, '.deleted-before'), { recursive: true });
    truncateSync(join(instances, 'host~default', 'metadata.json'), 40);
    const refused = await gdn('instance delete host default --yes');
    expect(refused.stderr).toMatch(/^E_STORE_CORRUPT: .*\n.*`--force`\.\n$/);
    expect((await gdn('instance delete host default --yes --force')).exitCode).toBe(0);
    expect(readdirSync(instances)).toEqual([]);
    mkdirSync(join(instances, '.deleted-before'));
    expect((await place.run('run', 'bundle', '--trust', '--input', 'Ho')).stdout).toBe('You said: Ho\n');
    expect(readdirSync(instances)).toEqual(['host~default']);
  });
});

describe('gdn logs', () => {
  afterEach(leave);

  test('logs shows the log of a swarm, also after it stopped: info and above, with pids; options filter it', async () => {
    const module = `export const register = (api) => {
      api.logger.warn('Hello from inside.');
      api.logger.debug('Details from inside.');
    };`;
    await place.write('bundle', { 'goondan.yaml': sampleBundle(tellTale), 'tell-tale.ts': module });
    await place.run('run', 'bundle', '--trust', '--input', 'Hi');
    const { stdout } = await gdn('logs');
    expect(stdout).toMatch(/^20\S+Z info Swarm "default" runs with the agents host\.$/m);
    expect(stdout).toMatch(/ info host default: Process \d{2,} ended with code 0\.$/m);
    expect(stdout).not.toContain('Details from inside.');
    expect((await gdn('logs --level debug --grep details')).stdout).toMatch(
      /^20\S+Z debug host .*Details from inside\.\n$/,
    );
    expect((await gdn('logs --level warn --since 1h --json')).stdout).toMatch(/^\{"time":"20[^"]+Z".*\}\n$/);
    const atTerminal = await place.runOnTerminal(['logs', '--bundle', 'bundle', '--last', '1']);
    expect(atTerminal.screen).toMatch(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} info /);
    expect(await gdn('logs --agent hots')).toEqual({
      stdout: '',
      stderr: 'E_AGENT_UNKNOWN: There is no agent "hots". Agents: host.\nDid you mean `host`?\n',
      exitCode: 3,
    });
    const none = await gdn('logs --grep nonsense');
    expect(none).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'No line of the log matches. `--level debug` shows all levels.\n',
    });
    const lines = (await gdn('logs --agent host --json')).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toContainEqual(expect.objectContaining({ agent: 'host', message: 'Hello from inside.' }));
    expect(lines.every(({ agent }) => agent === 'host')).toBe(true);
    expect((await gdn('logs --trace 00000000000000000000000000000000')).stdout).toBe('');
  });

  test('-f follows until the swarm stops', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle() });
    await place.serve('bundle');
    const child = place.start('logs', '--bundle', 'bundle', '-f');
    const reader = child.stdout.getReader();
    let seen = new TextDecoder().decode((await reader.read()).value);
    expect((await gdn('stop')).exitCode).toBe(0);
    for (let next = await reader.read(); next.value !== undefined; next = await reader.read()) {
      seen += new TextDecoder().decode(next.value);
    }
    expect(seen).toContain('Swarm "default" is stopped.');
    expect(seen.match(/runs with the agents/g)).toHaveLength(1);
    expect(await child.exited).toBe(0);
  });
});

describe('gdn deadletter', () => {
  const long = `Crash ${'x'.repeat(300)}`;

  /** One swarm has all of them; every test has dead letters of its own. */
  const letters = [
    ['host', 'default', 'bad-1', 'Crash'],
    ['host', 'k', 'bad-2', 'Crash'],
    ['helper', 'default', 'bad-3', long],
    ['host', 'retried-1', 'retry-1', 'Crash'],
    ['host', 'retried-2', 'retry-2', 'Crash'],
    ['host', 'dropped-1', 'drop-1', 'Crash'],
    ['host', 'dropped-2', 'drop-2', 'Crash'],
    ['host', 'twice-1', 'twice', 'Crash'],
    ['host', 'twice-2', 'twice', 'Crash'],
  ] as const;

  beforeAll(async () => {
    const module = `import { existsSync } from 'node:fs';
      export const register = (api) => api.pipeline.register('turn', (ctx) => {
        if (existsSync(${JSON.stringify(join(place.folder, 'crash'))})) process.kill(process.pid, 'SIGKILL');
        return ctx.next();
      });`;
    const swarm = `${tellTale.agent}\npolicy: { crashesBeforeDeadLetter: 1 }`;
    const yaml = sampleBundle({ more: tellTale.more, swarm, agents: ['helper'] });
    await place.write('bundle', { 'goondan.yaml': yaml, 'tell-tale.ts': module });
    await place.serve('bundle');
    await place.write('.', { crash: '' });
    const ended = letters.map(([agent, key, id, input]) => {
      const to = ['--agent', agent, '--instance', key, '--id', id, '--input', input];
      return place.run('send', '--bundle', 'bundle', '--wait', ...to);
    });
    expect((await Promise.all(ended)).map(({ exitCode }) => exitCode)).toEqual(letters.map(() => 1));
    rmSync(join(place.folder, 'crash'));
    expect(await json('deadletter list --json')).toHaveLength(letters.length);
  });
  afterAll(async () => {
    expect((await gdn('stop')).exitCode).toBe(0);
    await leave();
  });

  test('list: all of them, or those of one agent or conversation', async () => {
    const bad = letters.filter(([, , id]) => id.startsWith('bad'));
    const all = await list('deadletter list --json');
    expect(all).toMatchObject(
      bad.map(([agent, instanceKey, eventId, input]) => ({ agent, instanceKey, eventId, input, crashes: 1 })),
    );
    const ids = async (line: string) => (await list(line)).map(({ eventId }) => eventId);
    expect(await ids('deadletter list --agent host --json')).toEqual(['bad-1', 'bad-2']);
    expect(await ids('deadletter list --instance default --json')).toEqual(['bad-1', 'bad-3']);
    expect(await ids('deadletter list --agent helper --instance k --json')).toEqual([]);
    expect((await gdn('deadletter list --agent helper --instance k')).stdout).toBe('There are no dead letters.\n');
    expect((await gdn('deadletter list --agent helper')).stdout.split('\n')).toEqual([
      expect.stringMatching(/^helper default bad-3 {2}20\S+Z$/),
      `    ${all[2]?.reason}`,
      `    ${JSON.stringify(long.slice(0, 200))}`,
      expect.stringContaining('`gdn deadletter retry ID --bundle bundle`'),
      '',
    ]);
    expect(all[2]?.reason).toContain('crashed its agent');
  });

  test('retry: its turn runs like that of a new input', async () => {
    await expectUnknown('retry');
    expect((await gdn('deadletter retry retry-1')).stdout).toBe('Accepted again: turn retry-1~retry\n');
    expect(await json('deadletter retry retry-2 --instance retried-2 --json')).toEqual({ retried: true });
    for (const key of ['retried-1', 'retried-2']) {
      expect(await json(`deadletter list --instance ${key} --json`)).toEqual([]);
      // This input is sent after the dead letter, to the same conversation.
      await gdn(`send --instance ${key} --input Then --wait`);
      expect((await gdn(`instance show host ${key}`)).stdout).toContain('You said: Crash\n');
    }
    expect(await list('deadletter list --json')).toHaveLength(3);
  });

  test('drop: it is removed, and never handled', async () => {
    await expectUnknown('drop');
    expect((await gdn('deadletter drop drop-1')).stdout).toBe('Dropped.\n');
    expect(await json('deadletter drop drop-2 --agent host --instance dropped-2 --json')).toEqual({ dropped: true });
    for (const key of ['dropped-1', 'dropped-2']) {
      expect(await json(`deadletter list --instance ${key} --json`)).toEqual([]);
      await gdn(`send --instance ${key} --input Then --wait`);
      const { stdout } = await gdn(`instance show host ${key}`);
      expect(stdout).toContain('You said: Then\n');
      expect(stdout).not.toContain('You said: Crash');
    }
    expect(await list('deadletter list --json')).toHaveLength(3);
  });

  test('list and status show dead letters, also while the swarm does not run', async () => {
    const running = await list('deadletter list --json');
    await gdn('stop');
    expect(await list('deadletter list --json')).toEqual(running);
    expect(await json('deadletter list --agent helper --json')).toHaveLength(1);
    expect((await gdn('status')).stdout).toContain('\n  helper (default): 1 dead letter\n');
    await place.serve('bundle');
  });

  /** Lists the dead letters of the first test, in the order of their ids. */
  async function list(line: string): Promise<{ eventId: string; reason: string }[]> {
    const found: { eventId: string; reason: string }[] = await json(line);
    const bad = found.filter(({ eventId }) => eventId.startsWith('bad'));
    return bad.toSorted((one, other) => (one.eventId < other.eventId ? -1 : 1));
  }

  async function expectUnknown(order: string): Promise<void> {
    for (const line of ['bad', 'bad-2 --instance default', 'bad-1 --instance other', 'bad-1 --agent helper']) {
      const said = `E_DEAD_LETTER_UNKNOWN: There is no dead letter "${line.split(' ')[0]}".\n`;
      expect(await gdn(`deadletter ${order} ${line}`)).toEqual(refusal(3, said));
    }
    const { stderr } = await gdn(`deadletter ${order} twice`);
    expect(stderr).toMatch(/^E_TRACE_AMBIGUOUS: .*twice of host \(twice-1\).*twice of host \(twice-2\)/s);
  }
});
