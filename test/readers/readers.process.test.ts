// Commands and Studio read conversations while these are created, continued, reset, deleted and forked over a slow disk.
// No reader may call that damage.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { GdnPlace } from '../../packages/cli/src/testing/gdn-place.ts';
import { sampleBundle } from '../../packages/cli/src/testing/sample-bundle.ts';
import { StudioPlace } from '../../packages/cli/src/testing/studio-place.ts';
import { systemFs } from '../../packages/runtime/src/ports/fs.ts';
import { pausedFs } from '../../packages/runtime/src/workspace/simulation/paused-fs.ts';
import { type Random, seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { samples } from '../samples.ts';
import { startWriter } from './busy-writer.ts';

// `npm run proof` takes minutes.
setDefaultTimeout(600_000);

const READS = samples(2_000, 20);
const PROCESSES = samples(40, 20);
const AT_ONCE = 12;
const KEYS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];

let place: GdnPlace;
let studio: StudioPlace;
let workspaceId: string;

beforeAll(async () => {
  place = new GdnPlace();
  await place.write('bundle', { 'goondan.yaml': sampleBundle() });
  await place.serve('bundle');
  expect((await place.run('stop', '--bundle', 'bundle')).exitCode).toBe(0);
  [workspaceId = ''] = readdirSync(join(place.stateRoot, 'workspaces'));
  studio = new StudioPlace({ stateRoot: place.stateRoot });
  await studio.enter();
});
afterAll(async () => {
  await studio.remove();
  expect(await place.remove()).toEqual([]);
});

/** The reading commands. KEY: the key of a conversation, which may not exist. NEW: a name that is not used yet. */
const commands = [
  'instance list --json',
  'instance list',
  'instance show host KEY',
  'instance export host KEY --history',
  'history host KEY',
  'history host KEY --at 2',
  'history host KEY --at 00000001',
  'blame host KEY',
  'trace',
  'trace last',
  'trace last --json',
  'usage',
  'usage --json',
  'status',
  'status --json',
  'deadletter list',
  'logs',
  'doctor',
  'backup ../copies/NEW',
  'ls --json',
  'trace last --prompt',
  'changes list',
  'approve',
];

const requests = [
  '',
  '/conversation?agent=host&instanceKey=KEY',
  '/conversation?agent=host&instanceKey=KEY&at=2',
  '/timeline?agent=host&instanceKey=KEY',
  '/history?agent=host&instanceKey=KEY',
  '/turns',
  '/usage?by=agent',
  '/trace?id=00000',
];

/** What only a damaged store, or a mistake of ours, makes a reader say. */
const ALARM =
  /E_STORE_\w+|E_UNEXPECTED|E_USAGE|\bdamaged|does not start|cannot be read|could not be read|cannot tell|is missing|left out|incomplete/i;

test('a conversation that somebody changes is not damaged, whatever reads it', async () => {
  const random = seededRandom(1);
  const alarms: string[] = [];
  let answered = 0;
  const listen = (reader: string, isAnswer: boolean, words: string) => {
    if (isAnswer) answered += 1;
    if (ALARM.test(words)) alarms.push(`${reader}: ${words}`);
  };
  let reads = 0;
  const readOn = async () => {
    while (reads < READS) {
      reads += 1;
      await (random.chance(0.5) ? askCommand(random, listen) : askStudio(random, listen));
    }
  };
  const fast = { ...systemFs };
  const pause = async () => {
    if (random.chance(0.5)) await Bun.sleep(random.below(3));
  };
  // All readers of this process, and the writer, have the same slow disk.
  Object.assign(systemFs, pausedFs(fast, pause));
  try {
    const writer = await startWriter({ stateRoot: place.stateRoot, workspaceId }, KEYS, random);
    try {
      await Promise.all([...Array.from({ length: AT_ONCE }, readOn), askProcesses(random, listen)]);
    } finally {
      await writer.stop();
    }
    if (READS >= 2_000) console.log({ reads, processes: PROCESSES, answered, ...writer.done, alarms: alarms.length });
  } finally {
    Object.assign(systemFs, fast);
  }
  const copies = readdirSync(place.stateRoot, { recursive: true }).filter((name) => String(name).includes('.corrupt-'));
  expect({ alarms, copies, reported: studio.reported }).toEqual({ alarms: [], copies: [], reported: [] });
  // The others asked for a conversation that was not there at that moment.
  expect(answered).toBeGreaterThan(reads / 2);
});

const inBundle = () => ({ cwd: join(place.folder, 'bundle') });

type Listen = (reader: string, isAnswer: boolean, words: string) => void;

async function askCommand(random: Random, listen: Listen): Promise<void> {
  const line = pick(commands, random);
  const { stdout, stderr, exitCode } = await place.runWith(inBundle(), ...line.split(' '));
  listen(`gdn ${line}`, exitCode === 0, stdout + stderr);
}

async function askProcesses(random: Random, listen: Listen): Promise<void> {
  for (let asked = 0; asked < PROCESSES; asked += 1) {
    const line = pick(commands, random);
    const { stdout, stderr, exitCode } = await place.runProcessWith(inBundle(), ...line.split(' '));
    listen(`process of gdn ${line}`, exitCode === 0, stdout + stderr);
  }
}

async function askStudio(random: Random, listen: Listen): Promise<void> {
  const path = pick(requests, random);
  const answer = await studio.ask(`/api/workspaces/${workspaceId}${path}`);
  listen(`GET ${path}`, answer.ok, await answer.text());
}

/** Chooses a line, and fills in its names. */
function pick(lines: readonly string[], random: Random): string {
  const key = random.pick(KEYS) + (random.chance(0.3) ? '-copy' : '');
  return random.pick(lines).replace('KEY', key).replace('NEW', crypto.randomUUID());
}
