// Tests a race: a second program swaps the target of a path while this test walks the path.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { samples } from '../../../../../test/samples.ts';
import { editText } from './edit-text.ts';
import { listFolder } from './list-folder.ts';
import { readText } from './read-text.ts';
import { findMatches } from './search/find-matches.ts';
import { CANARY, type GuardedFolder, guardedFolder } from './testing/guarded-folder.ts';
import { writeText } from './write-text.ts';

let folder: GuardedFolder;
let racer: Bun.Subprocess<'ignore', 'pipe', 'inherit'>;
/** The memory in which the racer counts its rounds. */
let counted: DataView;
beforeEach(async () => {
  folder = guardedFolder();
  mkdirSync(join(folder.outside, 'deep'));
  writeFileSync(join(folder.outside, 'deep/secret.txt'), `${CANARY}\n`);
  const program = join(import.meta.dir, 'testing/swap-folders.ts');
  const counter = join(folder.base, 'counter');
  writeFileSync(counter, Buffer.alloc(4));
  counted = new DataView(Bun.mmap(counter).buffer);
  const command = [process.execPath, program, folder.root, folder.outside, counter];
  racer = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' });
  await racer.stdout.getReader().read();
});
afterEach(async () => {
  racer.kill('SIGKILL');
  await racer.exited;
  folder[Symbol.dispose]();
});

/**
 * Calls `act` at least `rounds` times. Then continues until the racer has swapped `SWAPS` times since the first call,
 * `act` was refused as outside `least` times and had another outcome `least` times, and an outcome contains `awaited`, or
 * the time is up.
 */
function race(
  rounds: number,
  act: () => unknown,
  { awaited = '', least = 10 }: { readonly awaited?: string; readonly least?: number } = {},
): { keptOut: number; said: string } {
  const deadline = performance.now() + 10_000;
  const swappedBefore = counted.getUint32(0);
  const swaps = () => counted.getUint32(0) - swappedBefore;
  const said = new Set<string>();
  let [keptOut, others, isSaid] = [0, 0, false];
  const isEnough = () =>
    isSaid && keptOut + others >= rounds && keptOut >= least && others >= least && swaps() >= SWAPS;
  while (performance.now() < deadline && !isEnough()) {
    const outcome = outcomeOf(act);
    said.add(outcome);
    isSaid ||= outcome.includes(awaited);
    if (outcome === 'E_FILE_OUTSIDE') keptOut += 1;
    else others += 1;
  }
  expect(swaps()).toBeGreaterThanOrEqual(SWAPS);
  return { keptOut, said: [...said].join('\n') };
}

function outcomeOf(act: () => unknown): string {
  try {
    return JSON.stringify(act());
  } catch (error) {
    return String((error as { code?: string }).code);
  }
}

const SWAPS = 100;
const names = ['folder/deep/secret.txt', 'file'];
const limitMs = 60_000;

describe('while another program swaps folders and links', () => {
  test.each(names)(
    'nothing outside is read through %s',
    (path) => {
      const { keptOut, said } = race(
        samples(5_000, 10),
        () => readText({ path }, { root: folder.root, readLimit: 1_000 }),
        { awaited: 'inside' },
      );
      expect(said).toContain('inside');
      expect(said).not.toContain(CANARY);
      expect(keptOut).toBeGreaterThan(0);
    },
    limitMs,
  );

  test.each(names)(
    'nothing outside is edited through %s',
    (path) => {
      const before = folder.snapshot();
      const bounds = { root: folder.root, readOnly: false, fileLimit: 1_000 };
      const { keptOut, said } = race(samples(2_000, 10), () => editText({ path, old: CANARY, new: 'hacked' }, bounds));
      expect(said).not.toContain('replaced');
      expect(keptOut).toBeGreaterThan(0);
      expect(folder.snapshot()).toEqual(before);
    },
    limitMs,
  );

  test.each(names)(
    'nothing outside is written through %s',
    (path) => {
      const before = folder.snapshot();
      const bounds = { root: folder.root, readOnly: false, fileLimit: 1_000 };
      // Writing replaces the link with a new file, so refusals are rare.
      const { said } = race(samples(300, 10), () => writeText({ path, text: 'hacked' }, bounds), {
        awaited: 'bytes',
        least: 0,
      });
      expect(said).toContain('bytes');
      expect(folder.snapshot()).toEqual(before);
    },
    limitMs,
  );

  test(
    'nothing outside is listed or found',
    () => {
      const list = race(samples(2_000, 10), () => listFolder({ path: 'folder' }, { root: folder.root }), {
        awaited: 'deep',
      });
      expect(list.said).toContain('deep');
      expect(list.said).not.toContain('secret.txt');
      const ask = { root: folder.root, path: 'folder', ignoreCase: false, skip: [], fileLimit: 1_000, pattern: '.' };
      const { said } = race(samples(2_000, 10), () => [...findMatches(ask)], { awaited: 'inside' });
      expect(said).toContain('inside');
      expect(said).not.toContain(CANARY);
    },
    limitMs,
  );
});
