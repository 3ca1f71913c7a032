// Tests with a real swarm: backups while it works, and restores elsewhere.
import { beforeEach, describe, expect, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectSwarm, type Swarm } from '@goondan/runtime';
import { backUpSwarm } from '../instance/back-up-swarm.ts';
import type { Ended } from '../testing/gdn-place.ts';
import { commandsAbout, openPlace, outputOf, refusal } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { sampledCases, samples, testInProof } from '../../../../test/samples.ts';
import { until } from '../../../../test/until.ts';

const place = openPlace();
beforeEach(async () => {
  await place.write('bundle', { 'goondan.yaml': sampleBundle() });
});

const { gdn } = commandsAbout(place);
const ask = (input: string) => gdn(`run bundle --trust --input ${input}`);
const path = (...names: string[]) => join(place.folder, ...names);
const json = (ended: Ended) => JSON.parse(outputOf(ended));

const keys = sampledCases(['b', 'a', 'c', 'd'], 2);

/** Sends inputs to all conversations until `isOver`. Adds each text when its input was acknowledged. */
async function load(swarm: Swarm, acknowledged: string[], isOver: () => boolean): Promise<void> {
  await Promise.all(
    keys.map(async (instanceKey) => {
      for (let number = 1; !isOver(); number += 1) {
        const input = `${instanceKey}-${number}`;
        await swarm.deliver({ agent: 'host', instanceKey, input });
        acknowledged.push(input);
      }
    }),
  );
}

const workspaceOf = (stateRoot: string) => readdirSync(join(stateRoot, 'workspaces'))[0] ?? '';

/** Kills the process of a conversation, which is then started again. */
async function killAgent(instanceKey: string): Promise<void> {
  const { agents } = json(await gdn('status --json')) as { agents: { instanceKey: string; pid?: number }[] };
  const pid = agents.find((each) => each.instanceKey === instanceKey)?.pid;
  if (pid === undefined) throw new Error(`${instanceKey} has no process`);
  process.kill(pid, 'SIGKILL');
}

/** Reads the texts of a conversation, by role. */
async function textsOf(instanceKey: string, options: string) {
  const { messages } = json(await place.run(...`instance export host ${instanceKey} ${options}`.split(' '))) as {
    messages: { data: { role: string; content: unknown } }[];
  };
  const of = (role: string) =>
    messages.filter(({ data }) => data.role === role).map(({ data }) => textOf(data.content));
  return { inputs: of('user'), answers: of('assistant') };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return (content as { text?: string }[]).map(({ text = '' }) => text).join('');
}

describe('gdn backup of a running swarm, gdn restore elsewhere', () => {
  test('every input acknowledged before the backup began is answered once, and the swarm goes on', async () => {
    await place.serve('bundle');
    const swarm = await connectSwarm({ stateRoot: place.stateRoot, workspaceId: workspaceOf(place.stateRoot) });
    const acknowledged: string[] = [];
    let isOver = false;
    const loading = load(swarm, acknowledged, () => isOver);
    await until(() => acknowledged.length >= samples(60, 3));
    await killAgent('b');
    const before = [...acknowledged];
    const backup = json(await place.runProcess('backup', 'copies/one', '--bundle', 'bundle', '--json'));
    const during = acknowledged.length - before.length;
    await killAgent('c');
    isOver = true;
    await loading;
    expect(backup).toMatchObject({ backup: 'copies/one', conversations: keys.length, problems: [], skipped: 0 });
    expect(during).toBeGreaterThan(0);
    json(await gdn('stop --json'));

    // Elsewhere: another folder of the bundle, so another workspace, and another state root.
    cpSync(path('bundle'), path('moved/bundle'), { recursive: true });
    const options = '--bundle moved/bundle --state-root elsewhere';
    const restored = json(await place.runProcess(...`restore copies/one ${options} --json`.split(' ')));
    expect(restored).toMatchObject({ conversations: keys.length, startedAt: backup.startedAt, files: backup.files });
    expect(workspaceOf(path('elsewhere'))).not.toBe(workspaceOf(place.stateRoot));

    await place.serveWith({ env: { GOONDAN_STATE_ROOT: path('elsewhere') } }, 'moved/bundle');
    const elsewhere = { stateRoot: path('elsewhere'), workspaceId: workspaceOf(path('elsewhere')) };
    const again = await connectSwarm(elsewhere);
    for (const instanceKey of keys) {
      const { result } = await again.ask({ agent: 'host', instanceKey, input: `${instanceKey}-next` });
      expect(result.finishReason).toBe('text_response');
    }
    const inputs: string[] = [];
    for (const instanceKey of keys) {
      const found = await textsOf(instanceKey, options);
      expect(found.answers).toEqual(found.inputs.map((input) => `You said: ${input}`));
      inputs.push(...found.inputs);
    }
    expect(inputs.length).toBe(new Set(inputs).size);
    expect(before.filter((each) => !inputs.includes(each))).toEqual([]);
    expect(inputs).toEqual(expect.arrayContaining(keys.map((key) => `${key}-next`)));
    expect((await place.run('stop', ...options.split(' '))).exitCode).toBe(0);
  });
});

describe('gdn backup and gdn restore', () => {
  test('a stopped swarm: people read the result; the same bundle restores into an empty state root', async () => {
    await ask('Hi');
    const backed = await gdn('backup copies/one');
    expect(backed).toMatchObject({ stderr: '', exitCode: 0 });
    expect(backed.stdout).toMatch(/^Backed up 1 conversation to copies\/one: \d+ files, \d+ bytes\.\n$/);
    rmSync(place.stateRoot, { recursive: true });
    const restored = await gdn('restore copies/one');
    expect(restored).toMatchObject({ stderr: '', exitCode: 0 });
    expect(restored.stdout).toMatch(
      /^Restored 1 conversation of swarm "default" into .*\/state: \d+ files, \d+ bytes\.\n$/,
    );
    expect(await textsOf('default', '--bundle bundle')).toEqual({ inputs: ['Hi'], answers: ['You said: Hi'] });
    expect((await ask('Again')).stdout).toBe('You said: Again\n');
    expect((await textsOf('default', '--bundle bundle')).inputs).toEqual(['Hi', 'Again']);
  });

  test('refuses a swarm that never ran, a folder in use, and a target that runs or has conversations', async () => {
    const unknown = 'E_SWARM_UNKNOWN: Swarm "default" has never run with the state root ';
    expect(await gdn('backup copies/one')).toEqual(refusal(3, unknown));
    await ask('Hi');
    mkdirSync(path('copies/full/inside'), { recursive: true });
    const full = `E_BACKUP_FOLDER: ${path('copies/full')} is not empty.`;
    expect(await gdn('backup copies/full')).toEqual(refusal(3, full));
    expect((await gdn('backup copies/one')).exitCode).toBe(0);

    expect(await gdn('restore copies/one')).toEqual(refusal(3, /^E_RESTORE_TARGET: .* has 1 conversation\.\n/));
    await place.serve('bundle');
    const running = await gdn('restore copies/one');
    expect(running).toEqual(refusal(3, 'E_SWARM_RUNNING: '));
    expect(running.stderr).toEndWith(
      'Nothing was restored. Stop it with `gdn stop --bundle bundle`, then type the command again.\n',
    );
    json(await gdn('stop --json'));
    const incomplete = `E_BACKUP_FOLDER: ${path('copies/full')} is not a complete backup`;
    expect(await gdn('restore copies/full --state-root elsewhere')).toEqual(refusal(3, incomplete));
    expect(existsSync(path('elsewhere'))).toBe(false);
  });

  test('a restore that fails leaves no swarm that gdn ls lists', async () => {
    await ask('Hi');
    expect((await gdn('backup copies/one')).exitCode).toBe(0);
    const [instance = ''] = readdirSync(path('copies/one/workspace/instances'));
    rmSync(path('copies/one/workspace/instances', instance, 'metadata.json'));
    expect((await gdn('restore copies/one --state-root elsewhere')).stderr).toStartWith('E_BACKUP_DAMAGED: ');
    expect(json(await place.run('ls', '--json', '--state-root', 'elsewhere'))).toEqual([]);
    expect((await gdn('backup copies/two --state-root elsewhere')).stderr).toStartWith('E_SWARM_UNKNOWN: ');
  });

  test('a damaged backup is refused with the name of the file; a damaged conversation gives a warning and exit code 1', async () => {
    await ask('Hi');
    const log = join(place.workspace, 'instances/host~default/messages/events.jsonl');
    writeFileSync(log, readFileSync(log).subarray(0, 100));
    const backed = await gdn('backup copies/one --json');
    expect(backed.exitCode).toBe(1);
    expect(backed.stderr).toStartWith(`warn: ${log} is damaged: `);
    expect(JSON.parse(backed.stdout)).toMatchObject({ conversations: 1, problems: [expect.stringContaining(log)] });
    const copy = path('copies/one/workspace/instances/host~default/messages/events.jsonl');
    expect(readFileSync(copy)).toEqual(readFileSync(log));

    const restored = await gdn('restore copies/one --state-root elsewhere');
    expect(restored).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(`warn: The backup was made with this problem: ${log} is damaged: `),
    });
    writeFileSync(copy, 'x', { flag: 'a' });
    expect(await gdn('restore copies/one --state-root third')).toEqual(
      refusal(1, `E_BACKUP_DAMAGED: ${copy} has 101 bytes instead of 100.`),
    );
    expect(JSON.parse((await gdn('instance list --json --state-root third')).stdout)).toEqual([]);
  });
});

describe('Y-02 images and files of conversations', () => {
  const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUg==', 'base64');
  const digest = new Bun.CryptoHasher('sha256').update(picture).digest('hex');
  const bytesIn = (root: string, workspace: string) => path(root, 'workspaces', workspace, 'blobs/data', digest);
  const problemOf = async (root: string) => {
    const { checks } = json(await gdn(`doctor --json --state-root ${root}`)) as {
      checks: { name: string; status: string; detail: string }[];
    };
    const found = checks.find(({ name }) => name === 'files');
    return [found?.status, found?.detail];
  };

  const damages: [string, (data: string) => void, string][] = [
    ['missing with all others', (data) => rmSync(join(data, '../..'), { recursive: true }), 'is missing'],
    ['missing', (data) => rmSync(data), 'is missing'],
    ['damaged', (data) => writeFileSync(data, 'dog'), `is damaged: its bytes do not have the SHA-256 ${digest}`],
  ];
  test.each([...sampledCases(damages, 3)])(
    'are in a backup and a restore; if they are %s, backup, restore and doctor say so',
    async (_, damage, wrong) => {
      writeFileSync(path('cat.png'), picture);
      expect((await gdn('run bundle --trust --input look --file cat.png')).exitCode).toBe(0);
      expect(await gdn('backup copies/whole')).toMatchObject({ stderr: '', exitCode: 0 });
      expect(await gdn('restore copies/whole --state-root whole')).toMatchObject({ stderr: '', exitCode: 0 });
      expect(readFileSync(bytesIn('whole', workspaceOf(path('whole'))))).toEqual(picture);
      const data = bytesIn('state', workspaceOf(place.stateRoot));
      damage(data);
      const problem = `${data} ${wrong}; the conversation host~default names it`;
      expect(await problemOf(place.stateRoot)).toEqual(['warning', problem]);
      const backed = await gdn('backup copies/one --json');
      expect(backed).toMatchObject({ stderr: `warn: ${problem}\n`, exitCode: 1 });
      expect(JSON.parse(backed.stdout)).toMatchObject({ conversations: 1, problems: [problem] });
      const restored = await gdn('restore copies/one --state-root elsewhere');
      expect(restored).toMatchObject({
        exitCode: 0,
        stderr: `warn: The backup was made with this problem: ${problem}\n`,
      });
      // The same file, sent again, repairs it.
      await gdn('run bundle --trust --input look --file cat.png');
      expect((await problemOf(place.stateRoot))[0]).toBe('ok');
    },
  );
});

describe('an interrupted command', () => {
  const FOLDERS = 80;
  const TEXT = 'text'.repeat(1000);

  /** Makes a conversation with many files, so that copying takes a while. */
  async function makeMuch(folders = FOLDERS, text = TEXT): Promise<void> {
    await ask('Hi');
    const scratch = join(place.workspace, 'instances/host~default/scratch');
    for (let number = 1; number <= folders; number += 1) {
      mkdirSync(join(scratch, `folder-${number}`), { recursive: true });
      writeFileSync(join(scratch, `folder-${number}`, 'file'), text);
    }
  }

  /** Starts a backup, and waits until it copies files. */
  async function startBackup() {
    await makeMuch();
    const child = place.start('backup', 'copies/one', '--bundle', 'bundle');
    await until(() => existsSync(path('copies/one/workspace/instances/host~default/scratch')));
    return child;
  }

  test.each([...sampledCases(['SIGINT', 'SIGTERM', 'SIGHUP'] as const, 3)])(
    '%s removes the partial backup, and exits with 130',
    async (name) => {
      const child = await startBackup();
      child.kill(name);
      const stderr = await new Response(child.stderr).text();
      expect(await child.exited).toBe(130);
      expect(stderr).toStartWith('E_CANCELLED: The backup was interrupted. Nothing is left of it.');
      expect(readdirSync(path('copies'))).toEqual([]);
    },
  );

  testInProof('a second signal ends the clean-up at once, and says that the folder is incomplete', async () => {
    const child = await startBackup();
    // Both signals arrive together when the process goes on.
    for (const name of ['SIGSTOP', 'SIGTERM', 'SIGINT', 'SIGCONT'] as const) child.kill(name);
    const stderr = await new Response(child.stderr).text();
    expect(await child.exited).toBe(130);
    expect(stderr).toBe('The backup was not cleaned up: copies/one is incomplete. Delete it.\n');
    expect(existsSync(path('copies/one/backup.jsonl'))).toBe(false);
    expect((await gdn('backup copies/one')).stderr).toStartWith('E_BACKUP_FOLDER: ');
    rmSync(path('copies/one'), { recursive: true });
    expect((await gdn('backup copies/one')).exitCode).toBe(0);
  });

  testInProof('SIGTERM cleans up a restore; a second signal ends the clean-up and says so', async () => {
    await makeMuch(4, TEXT.repeat(4_000));
    expect((await gdn('backup copies/one')).exitCode).toBe(0);
    for (const signals of [['SIGTERM'], ['SIGSTOP', 'SIGTERM', 'SIGINT', 'SIGCONT']] as const) {
      const child = place.start('restore', 'copies/one', '--bundle', 'bundle', '--state-root', 'elsewhere');
      const names = () => (existsSync(path('elsewhere/workspaces')) ? readdirSync(path('elsewhere/workspaces')) : []);
      await until(() => names().some((name) => name.startsWith('.restoring-')));
      for (const name of signals) child.kill(name);
      const stderr = await new Response(child.stderr).text();
      expect(await child.exited).toBe(130);
      const expected =
        signals.length === 1
          ? 'E_CANCELLED: The restore was interrupted. Nothing was restored.'
          : 'The restore was not cleaned up. If it has left an incomplete copy, the next `gdn restore` or start removes it.';
      expect(stderr).toStartWith(expected);
      expect(json(await place.run('ls', '--json', '--state-root', 'elsewhere'))).toEqual([]);
      expect(names().filter((name) => name.startsWith('.'))).toHaveLength(signals.length === 1 ? 0 : 1);
    }
    expect((await gdn('restore copies/one --state-root elsewhere')).exitCode).toBe(0);
    expect(readdirSync(path('elsewhere/workspaces'))).toHaveLength(1);
  });

  test('an error that is not the interrupt is shown as it is', async () => {
    await ask('Hi');
    mkdirSync(path('copies'));
    writeFileSync(path('copies/mine'), '');
    const swarm = { swarm: 'default', stateRoot: place.stateRoot, workspaceId: workspaceOf(place.stateRoot) };
    const done = backUpSwarm(swarm, path('copies'), AbortSignal.abort(), () => undefined);
    expect(await done.catch((error: unknown) => error)).toMatchObject({ code: 'E_BACKUP_FOLDER' });
    expect(readdirSync(path('copies'))).toEqual(['mine']);
  });

  test('after kill -9 of a restore there are no conversations or all; a second restore works', async () => {
    await makeMuch();
    expect((await gdn('backup copies/one')).exitCode).toBe(0);
    let killed = 0;
    for (const share of sampledCases([0.2, 0.9], 2)) {
      const root = `state-${share}`;
      const child = place.start('restore', 'copies/one', '--bundle', 'bundle', '--state-root', root);
      const draft = () => {
        const names = existsSync(path(root, 'workspaces')) ? readdirSync(path(root, 'workspaces')) : [];
        const found = names.find((name) => name.startsWith('.restoring-'));
        const scratch = found && path(root, 'workspaces', found, 'instances/host~default/scratch');
        if (scratch === undefined || !existsSync(scratch)) return 0;
        // All folders are made before the first file.
        return readdirSync(scratch).filter((name) => existsSync(join(scratch, name, 'file'))).length;
      };
      await until(() => draft() >= FOLDERS * share || child.exitCode !== null);
      child.kill('SIGKILL');
      await child.exited;
      const list = () => place.run(...`instance list --json --bundle bundle --state-root ${root}`.split(' '));
      const found = JSON.parse((await list()).stdout) as unknown[];
      if (found.length === 0) {
        killed += 1;
        expect(await gdn(`restore copies/one --state-root ${root}`)).toMatchObject({ stderr: '', exitCode: 0 });
      }
      expect(json(await list())).toHaveLength(1);
      const [workspace = ''] = readdirSync(path(root, 'workspaces')).toSorted();
      expect(readdirSync(path(root, 'workspaces'))).toHaveLength(1);
      const scratch = path(root, 'workspaces', workspace, 'instances/host~default/scratch');
      const texts = readdirSync(scratch).map((name) => readFileSync(join(scratch, name, 'file'), 'utf8'));
      expect(texts).toEqual(Array<string>(FOLDERS).fill(TEXT));
    }
    expect(killed).toBeGreaterThan(0);
  });
});
