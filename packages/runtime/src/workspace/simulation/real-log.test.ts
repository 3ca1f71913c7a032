/** Damages the log of an instance on the real disk, byte by byte. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { samples, sampleStep } from '../../../../../test/samples.ts';
import { systemFs } from '../../ports/fs.ts';
import { openJournal, type Journal } from '../journal/journal.ts';
import { instancePaths, workspaceFolder, type StoredInstance } from '../layout/instance-paths.ts';
import { defaultLimits } from '../limits.ts';
import { isCorrupt } from '../lines/corrupt-store.ts';
import { readLog } from '../records/read-log.ts';
import { simulatedMachine } from './simulated-machine.ts';
import { runSimpleTurn, simpleEvent } from './simulated-turn.ts';

const CUTS = 20_000;
const FLIPS = 2000;
/** Shares no factor with the size of a block. */
const STEP = sampleStep === 1 ? 1 : 67;

const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-real-log-'));
const address = { agentName: 'coder', instanceKey: 'default' };
const paths = instancePaths(workspaceFolder(stateRoot, 'w'), address);
const ports = simulatedMachine(systemFs, 1);
const stored: StoredInstance = { ...ports, address, paths, limits: defaultLimits };

let journal: Journal;
let whole: Uint8Array;
/** The offset after the last frame. */
let end: number;
let checkpoint: number;
let state: string;

beforeAll(async () => {
  journal = await openJournal(ports, { stateRoot, workspaceId: 'w' });
  for (let turn = 0; (end ?? 0) < CUTS; turn += 1) {
    await journal.accept(address, simpleEvent(`e${turn}`));
    await runSimpleTurn(journal, address, `e${turn}`, { text: `answer ${'é'.repeat(400)}`, extensionState: { turn } });
    end = (await readLog(stored))?.current.read?.end ?? 0;
  }
  whole = readFileSync(paths.events);
  checkpoint = (await readLog(stored))?.metadata.checkpoint.offset ?? 0;
  state = await stateOf();
});

afterAll(async () => {
  await journal.close();
  rmSync(stateRoot, { recursive: true });
});

/** Returns `damage` or the state that the log gives. */
async function stateOf(): Promise<string> {
  const log = await readLog(stored).catch((error: unknown) => {
    if (!isCorrupt(error)) throw error;
  });
  if (!log || log.damage) return 'damage';
  const { seq, version, messages, inbox, states } = log.state;
  return JSON.stringify([seq, version, messages, inbox, [...states], log.turns.map(({ turnId }) => turnId)]);
}

test(`a log that is cut at any of ${CUTS} bytes is damaged, and a cut in its room changes nothing`, async () => {
  const descriptor = openSync(paths.events, 'r+');
  let cuts = 0;
  for (let size = whole.length - 1; size >= 0; size -= STEP) {
    if (size > end + 2 && size % 64 !== 0) continue;
    ftruncateSync(descriptor, size);
    const found = await stateOf();
    if (found !== (size > end ? state : 'damage')) throw new Error(`cut at ${size}: ${found}`);
    cuts += 1;
  }
  expect(cuts).toBeGreaterThan(samples(CUTS, STEP));
}, 120_000);

test(`a flipped bit at any of ${FLIPS} places is damage, or changes nothing`, async () => {
  writeFileSync(paths.events, whole);
  const descriptor = openSync(paths.events, 'r+');
  const count = samples(FLIPS, STEP);
  for (let flip = 0; flip < count; flip += 1) {
    const at = Math.floor((flip * whole.length) / count);
    const byte = whole[at] ?? 0;
    writeSync(descriptor, Uint8Array.of(byte ^ (1 << (flip % 8))), 0, 1, at);
    const found = await stateOf();
    // Frames before the checkpoint are read only for the history.
    const isRead = at >= checkpoint && at < end;
    const isRight = found === 'damage' || (found === state && !isRead);
    if (!isRight) throw new Error(`bit ${flip % 8} at ${at}: ${found}`);
    writeSync(descriptor, Uint8Array.of(byte), 0, 1, at);
  }
  expect(await stateOf()).toBe(state);
}, 120_000);
