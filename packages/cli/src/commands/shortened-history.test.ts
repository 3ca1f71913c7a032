// Tests a conversation whose files were damaged after the swarm stopped. The test damages each existing file, whatever
// its name and content.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampleStep } from '../../../../test/samples.ts';
import type { Ended } from '../testing/gdn-place.ts';
import { openPlace } from '../testing/open-place.ts';
import { runCaptured } from '../testing/run-captured.ts';
import { sampleBundle, withExtension } from '../testing/sample-bundle.ts';

const place = openPlace(afterAll);
const bundle = join(place.folder, 'bundle');

/** Commands that show the whole conversation. */
const commands = {
  history: 'history host default --json',
  blame: 'blame host default --json',
  export: 'instance export host default --history',
  fork: 'fork host default --as copy --json',
};

/** Ways to change the bytes of a file, as a faulty disk or a person might. */
const damages: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  'is empty': () => Buffer.alloc(0),
  'lost its second half': (bytes) => bytes.subarray(0, bytes.length >> 1),
  'has zeros for its second half': (bytes) => Buffer.from(bytes).fill(0, bytes.length >> 1),
  'lost its last line': (bytes) => bytes.subarray(0, bytes.subarray(0, -1).lastIndexOf('\n') + 1),
  'lost its first line': (bytes) => bytes.subarray(bytes.indexOf('\n') + 1),
};

/** All of the ways in `npm run proof`; `count` of them in `npm test`, and others for the next file. */
function someOf<Value>(ways: readonly Value[], at: number, count: number): readonly Value[] {
  if (sampleStep === 1) return ways;
  return Array.from({ length: count }, (_, more) => ways[(at * count + more) % ways.length] as Value);
}

beforeAll(async () => {
  await place.write('bundle', {
    'goondan.yaml': sampleBundle(withExtension('count')),
    'count.ts': `
export const register = (api) => {
  api.pipeline.register('turn', async (ctx) => {
    await api.state.set(((await api.state.get()) ?? 0) + 1);
    // Without its last turn the conversation would not be a beginning of itself.
    if (ctx.inputEvent.input.startsWith('two'))
      for (const { id } of ctx.conversationState.baseMessages) ctx.emitMessageEvent({ type: 'remove', targetId: id });
    return ctx.next();
  });
};
`,
  });
  await place.serve('bundle');
  // A long message makes the base too long for the checkpoint, so that it has a file.
  for (const input of ['one', `two ${'long '.repeat(500)}`])
    await place.run('send', '--input', input, '--wait', '--bundle', 'bundle');
  await place.run('stop', '--bundle', 'bundle');
});

describe('a shortened conversation', () => {
  test('is never shown as complete by history, blame, export or fork', async () => {
    const whole = await showAll();
    for (const { exitCode, stderr } of Object.values(whole))
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(whole.history?.stdout ?? '').turns).toHaveLength(2);

    const refusals = new Map<string, number>();
    for (const [at, file] of conversationFiles().entries()) {
      for (const [damage, change] of someOf(Object.entries(damages), at, 2)) {
        const bytes = readFileSync(join(place.stateRoot, file));
        const left = change(bytes);
        if (bytes.equals(left)) continue;
        for (const [name, shown] of Object.entries(await showDamaged(file, left))) {
          const what = `${name}: ${file} ${damage}`;
          if (shown.exitCode === 0) expect(shown, what).toEqual(whole[name] as Ended);
          else expect(shown.stderr, what).toMatch(/E_STORE_[A-Z]+/);
          if (shown.exitCode !== 0) refusals.set(name, (refusals.get(name) ?? 0) + 1);
        }
      }
    }
    // The damaged files include the files that contain the turns.
    for (const name of Object.keys(commands))
      expect(refusals.get(name), name).toBeGreaterThan(sampleStep === 1 ? 5 : 2);
  });

  test('ends a real `gdn` with a code and exit code 1', async () => {
    const [archive = ''] = conversationFiles().filter((file) => hidesFromHistory(file));
    const path = join(place.stateRoot, archive);
    const sound = readFileSync(path);
    writeFileSync(path, '');
    const ended = await place.run('history', 'host', 'default', '--bundle', 'bundle');
    writeFileSync(path, sound);
    expect(ended).toMatchObject({
      stdout: '',
      exitCode: 1,
      stderr: expect.stringMatching(/^E_STORE_CORRUPT: .* is damaged/),
    });
  });
});

/** Flips one bit near the beginning, in the middle or near the end. */
const flips = [0.05, 0.5, 0.95].map((part) => (bytes: Buffer) => {
  const at = Math.floor(bytes.length * part);
  return Buffer.concat([bytes.subarray(0, at), Buffer.of((bytes[at] ?? 0) ^ 1), bytes.subarray(at + 1)]);
});

describe('the printed remedies', () => {
  test('give all messages while one file is damaged, and name the damage', async () => {
    const whole = await showRemedies();
    expect(whole.fork).toMatchObject({ exitCode: 0, stderr: '' });
    expect(whole.export).toMatchObject({ exitCode: 0, stderr: '' });
    const { messages, extensions } = JSON.parse(whole.export.stdout);
    expect([messages.length, extensions]).toEqual([2, { count: 2 }]);
    const told = { fork: 0, export: 0 };
    for (const [at, file] of conversationFiles().entries()) {
      for (const flip of someOf(flips, at, 1)) {
        const shown = await whileDamaged({ [file]: flip }, showRemedies);
        for (const name of ['fork', 'export'] as const) {
          const { exitCode, stdout, stderr } = shown[name];
          const what = `${name}: ${file}: ${stderr}`;
          if (exitCode === 0) expect(shown[name], what).toEqual(whole[name]);
          else
            expect({ exitCode, problems: JSON.parse(stdout).problems.join('\n') }, what).toEqual({
              exitCode: 1,
              problems: expect.stringMatching(/^E_STORE_CORRUPT: /),
            });
          if (exitCode !== 0) expect(stderr, what).toMatch(/^warn: E_STORE_CORRUPT: /);
          if (exitCode !== 0) told[name] += 1;
        }
        const [exported, copied] = [JSON.parse(shown.export.stdout), JSON.parse(shown.copy.stdout)];
        expect([exported.messages, exported.extensions], `export: ${file}`).toEqual([messages, extensions]);
        expect([copied.messages, copied.extensions], `copy: ${file}`).toEqual([messages, extensions]);
      }
    }
    expect(Math.min(told.fork, told.export)).toBeGreaterThan(sampleStep === 1 ? 8 : 2);
  });

  test('hold when two files are damaged: a refused fork names an event that `--at` reaches', async () => {
    const whole = JSON.parse((await showRemedies()).export.stdout);
    const files = conversationFiles();
    const pairs = files.flatMap((one, index) => files.slice(index + 1).map((other) => [one, other] as const));
    const reached: number[] = [];
    // All of a few pairs, and every third of many in `npm test`.
    const isTried = (index: number) => sampleStep === 1 || pairs.length <= 20 || index % 3 === 1;
    for (const [one, other] of pairs.filter((_, index) => isTried(index))) {
      const damaged = { [one]: atEnd, [other]: atEnd };
      const { fork, copy, export: exported } = await whileDamaged(damaged, showRemedies);
      const what = `${one} ${other}: ${fork.stderr}`;
      // The export contains the parts that can be read, and never claims to be complete.
      expect([null, whole.messages], what).toContainEqual(JSON.parse(exported.stdout).messages);
      if (fork.stdout !== '') {
        expect(JSON.parse(copy.stdout).messages, what).toEqual(whole.messages);
        continue;
      }
      expect(fork.stderr, what).toMatch(/E_STORE_CORRUPT.*`gdn instance export`/s);
      const [, event] = /`gdn fork --at (\d+)`/.exec(fork.stderr) ?? [];
      if (event === undefined) continue;
      reached.push(Number(event));
      const earlier = await whileDamaged(damaged, () => show(`fork host default --as copy --at ${event} --json`));
      expect(JSON.parse(earlier.stdout), what).toMatchObject({ seq: Number(event) });
      removeMade();
    }
    expect(reached).toContain(2);
  });
});

const [, , atEnd = (bytes: Buffer) => bytes] = flips;

async function showRemedies() {
  const fork = await show(commands.fork);
  const copy = await show('instance export host copy');
  const exported = await show('instance export host default');
  removeMade();
  return { fork, copy, export: exported };
}

/** Tells whether every line of the file belongs to a turn, so that damage to it hides turns from the history. */
function hidesFromHistory(file: string): boolean {
  const lines = readFileSync(join(place.stateRoot, file), 'utf8').trim().split('\n');
  return lines.length > 4 && lines.every((line) => line.includes('"turn":'));
}

/** Lists the files of the conversation that are not empty, relative to the state root. */
function conversationFiles(): string[] {
  const all = readdirSync(place.stateRoot, { recursive: true }).map(String);
  const own = all.filter((path) =>
    path
      .split('/')
      .slice(0, -1)
      .some((name) => name.startsWith('host')),
  );
  return own.filter((path) => {
    const stat = statSync(join(place.stateRoot, path));
    return stat.isFile() && stat.size > 0;
  });
}

function showDamaged(file: string, bytes: Buffer): Promise<Record<string, Ended>> {
  return whileDamaged({ [file]: () => bytes }, showAll);
}

async function whileDamaged<Value>(
  changes: Readonly<Record<string, (bytes: Buffer) => Buffer>>,
  look: () => Promise<Value>,
): Promise<Value> {
  const sound = Object.keys(changes).map((file) => [file, readFileSync(join(place.stateRoot, file))] as const);
  for (const [file, bytes] of sound) writeFileSync(join(place.stateRoot, file), changes[file]?.(bytes) ?? bytes);
  try {
    return await look();
  } finally {
    for (const [file, bytes] of sound) writeFileSync(join(place.stateRoot, file), bytes);
  }
}

async function showAll(): Promise<Record<string, Ended>> {
  const shown: Record<string, Ended> = {};
  for (const [name, line] of Object.entries(commands)) shown[name] = await show(line);
  removeMade();
  return shown;
}

async function show(line: string): Promise<Ended> {
  const ended = await runCaptured([...line.split(' '), '--bundle', bundle, '--state-root', place.stateRoot]);
  return { ...ended, stdout: ended.stdout.replace(/"exportedAt": "[^"]*",/, '') };
}

/** Removes files that forks and refused commands created. */
function removeMade(): void {
  const { stateRoot } = place;
  const made = readdirSync(stateRoot, { recursive: true }).filter((path) => /copy$|\.corrupt-/.test(String(path)));
  for (const path of made) rmSync(join(stateRoot, String(path)), { recursive: true, force: true });
}
