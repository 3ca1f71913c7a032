// A conversation whose files were damaged after the swarm stopped. The test takes every file it finds; it knows neither
// their names nor their contents.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GdnPlace, type Ended } from '../testing/gdn-place.ts';
import { runCaptured } from '../testing/run-captured.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

setDefaultTimeout(120_000);

const place = new GdnPlace();
const bundle = join(place.folder, 'bundle');

/** Each shows the whole conversation. */
const commands = {
  history: 'history host default --json',
  blame: 'blame host default --json',
  export: 'instance export host default --history',
  fork: 'fork host default --as copy --json',
};

/** The bytes of a file, as a disk or a person may leave them. */
const damages: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  'is empty': () => Buffer.alloc(0),
  'lost its second half': (bytes) => bytes.subarray(0, bytes.length >> 1),
  'has zeros for its second half': (bytes) => Buffer.from(bytes).fill(0, bytes.length >> 1),
  'lost its last line': (bytes) => bytes.subarray(0, bytes.subarray(0, -1).lastIndexOf('\n') + 1),
  'lost its first line': (bytes) => bytes.subarray(bytes.indexOf('\n') + 1),
};

beforeAll(async () => {
  await place.write('bundle', {
    'goondan.yaml': sampleBundle({
      agent: 'extensions: [Extension/count]',
      more: 'kind: Extension\nmetadata: { name: count }\nspec: { entry: ./count.ts }',
    }),
    'count.ts': `
export const register = (api) => {
  api.pipeline.register('turn', async (ctx) => {
    await api.state.set(((await api.state.get()) ?? 0) + 1);
    // Without its last turn the conversation would not be a beginning of itself.
    if (ctx.inputEvent.input === 'two')
      for (const { id } of ctx.conversationState.baseMessages) ctx.emitMessageEvent({ type: 'remove', targetId: id });
    return ctx.next();
  });
};
`,
  });
  await place.run('run', 'bundle', '--trust', '--detach');
  for (const input of ['one', 'two']) await place.run('send', '--input', input, '--wait', '--bundle', 'bundle');
  await place.run('stop', '--bundle', 'bundle');
});
afterAll(async () => expect(await place.remove()).toEqual([]));

describe('T-03 a shortened conversation', () => {
  test('is never shown as whole by history, blame, export or fork', async () => {
    const whole = await showAll();
    for (const { exitCode, stderr } of Object.values(whole))
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(whole.history?.stdout ?? '').turns).toHaveLength(2);

    const refusals = new Map<string, number>();
    for (const file of conversationFiles()) {
      for (const [damage, change] of Object.entries(damages)) {
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
    // The files that hold the turns are among those that were damaged.
    for (const name of Object.keys(commands)) expect(refusals.get(name), name).toBeGreaterThan(5);
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

/** Every line of it names a commit or an event of a turn, and it holds the last one. */
function hidesFromHistory(file: string): boolean {
  const lines = readFileSync(join(place.stateRoot, file), 'utf8').trim().split('\n');
  return lines.length > 4 && lines.every((line) => line.includes('"turn":'));
}

/** Those of the one conversation that have anything in them, relative to the state root. */
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

async function showDamaged(file: string, bytes: Buffer): Promise<Record<string, Ended>> {
  const path = join(place.stateRoot, file);
  const sound = readFileSync(path);
  writeFileSync(path, bytes);
  try {
    return await showAll();
  } finally {
    writeFileSync(path, sound);
  }
}

/** What forks and refusals leave is taken away again. */
async function showAll(): Promise<Record<string, Ended>> {
  const { stateRoot } = place;
  const shown: Record<string, Ended> = {};
  for (const [name, line] of Object.entries(commands)) {
    const ended = await runCaptured([...line.split(' '), '--bundle', bundle, '--state-root', stateRoot]);
    shown[name] = { ...ended, stdout: ended.stdout.replace(/"exportedAt": "[^"]*"/, '') };
  }
  const made = readdirSync(stateRoot, { recursive: true }).filter((path) => /copy$|\.corrupt-/.test(String(path)));
  for (const path of made) rmSync(join(stateRoot, String(path)), { recursive: true, force: true });
  return shown;
}
