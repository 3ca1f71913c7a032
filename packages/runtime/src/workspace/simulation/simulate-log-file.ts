/**
 * Crashes a log file alone, with the simplest frames that can be read: at each of its operations, once more during the
 * recovery, and once more after it. The frames say up to which number everything was durable when they were written,
 * as the frames of an instance do.
 */
import type { Fs } from '../../ports/fs.ts';
import { checksum } from '../lines/checksum.ts';
import { DiskPace } from '../log-file/disk-pace.ts';
import { LogFile } from '../log-file/log-file.ts';
import { failingFs, systemError } from './failing-fs.ts';
import { seededRandom, type Random } from './seeded-random.ts';
import { SimulatedDisk } from './simulated-disk.ts';

export interface LogFileReport {
  readonly crashPoints: number;
  readonly problems: readonly string[];
}

const PATH = '/log';
const ROOM = { first: 1024, most: 2048 };
const FRAMES = 18;

/** What the owner of the log knows. */
interface Owner {
  /** The texts of all frames, in order; those behind `written` may be missing. */
  readonly texts: readonly string[];
  /** The number of frames whose write has resolved. */
  readonly written: number;
  readonly durable: number;
}

interface Snapshot {
  readonly disk: SimulatedDisk;
  readonly owner: Owner;
}

/** The disk is quick, slow, or changes its pace again and again. */
export type Pace = 'quick' | 'slow' | 'changing';

/** Crashes one seed at each operation, by a kill and by a loss of power. */
export async function simulateLogFile(seed: number, pace: Pace): Promise<LogFileReport> {
  const problems: string[] = [];
  const disk = await emptyLog();
  const snapshots: Snapshot[] = [];
  const random = seededRandom(seed, 1);
  await live(disk, disk, { texts: [], written: 0, durable: 0 }, FRAMES, pace, random, (taken) => snapshots.push(taken));
  let crashPoints = 0;
  for (const [operation, first] of snapshots.entries()) {
    for (const mode of ['kill', 'power'] as const) {
      crashPoints += 1;
      const choice = seededRandom(seed, operation, mode === 'kill' ? 0 : 1);
      try {
        await crashTwice(first, mode, pace, choice);
      } catch (error) {
        problems.push(`seed ${seed}, ${pace}, operation ${operation}, ${mode}: ${messageOf(error)}`);
      }
    }
  }
  return { crashPoints, problems };
}

async function crashTwice(first: Snapshot, mode: 'kill' | 'power', pace: Pace, random: Random): Promise<void> {
  const disk = first.disk.crash(mode, random);
  let chosen: Snapshot | undefined;
  let moments = 0;
  const known = await recover(disk, first.owner, mode);
  await live(disk, disk, known, random.below(4), pace, random, (taken) => {
    moments += 1;
    if (random.below(moments) === 0) chosen = taken;
  });
  if (!chosen) throw new Error('a life without a moment');
  const again = random.pick(['kill', 'power'] as const);
  const next = chosen.disk.crash(again, random);
  const last = await live(next, next, await recover(next, chosen.owner, again), 2, pace, random, () => undefined);
  await recover(next.crash('power', random), last, 'power');
}

/**
 * Lets each operation fail in turn, while the process lives on and opens the log again, and then takes the power away.
 */
export async function simulateLogFaults(seed: number, code: string, often: number, pace: Pace): Promise<LogFileReport> {
  const problems: string[] = [];
  for (let at = 0; ; at += 1) {
    const disk = await emptyLog();
    let operations = 0;
    const fs = failingFs(disk, () => {
      operations += 1;
      if (operations > at && operations <= at + often) throw systemError(code);
    });
    try {
      const owner = await liveThroughFaults(disk, fs, code, pace, seededRandom(seed, 2));
      await recover(disk.crash('power', seededRandom(seed, at)), owner, 'power');
    } catch (error) {
      problems.push(`seed ${seed}, ${pace}, operation ${at}, ${code} × ${often}: ${messageOf(error)}`);
    }
    if (operations <= at) return { crashPoints: at, problems };
  }
}

async function liveThroughFaults(
  disk: SimulatedDisk,
  fs: Fs,
  code: string,
  pace: Pace,
  random: Random,
): Promise<Owner> {
  let owner: Owner = { texts: [], written: 0, durable: 0 };
  while (owner.durable < FRAMES) {
    try {
      const note = (taken: Snapshot) => void (owner = taken.owner);
      owner = await live(disk, fs, await recover(disk, owner, 'kill'), FRAMES - owner.written, pace, random, note);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === code)) throw error;
    }
  }
  return owner;
}

/** Opens the log and writes frames. `onMoment` is called after every operation. */
async function live(
  disk: SimulatedDisk,
  fs: Fs,
  found: Owner,
  count: number,
  pace: Pace,
  random: Random,
  onMoment: (taken: Snapshot) => void,
): Promise<Owner> {
  let owner = found;
  const note = () => onMoment({ disk: disk.copy(), owner });
  // A moment is right after an operation, before its caller hears of it, so that a kill may tear the operation.
  note();
  disk.afterOperation = note;
  try {
    const end = lengthOf(found.texts.slice(0, found.written));
    const proven = numbersOf(found.texts[found.written - 1]?.trimEnd() ?? '')?.durable ?? 0;
    const durableEnd = lengthOf(found.texts.slice(0, proven));
    const options = { pace: new DiskPace(clockOf(pace, random)), room: ROOM, durableEnd };
    const log = await LogFile.open(fs, PATH, end, options);
    owner = { ...owner, durable: owner.written };
    for (let index = 0; index < count; index += 1) {
      const isLast = index === count - 1;
      const text = frameOf(owner.written + 1, owner.durable, random);
      owner = { ...owner, texts: [...owner.texts, text] };
      const isDurable = isLast || random.chance(0.4);
      await (isDurable ? log.writeDurably(Buffer.from(text)) : log.write(Buffer.from(text)));
      const written = owner.written + 1;
      owner = { ...owner, written, durable: isDurable ? written : owner.durable };
    }
    await log.close();
    return owner;
  } finally {
    disk.afterOperation = undefined;
  }
}

/** Reads the log after a crash and checks that nothing is missing or damaged, and that nothing has come back. */
async function recover(disk: SimulatedDisk, before: Owner, mode: 'kill' | 'power'): Promise<Owner> {
  const found = readFrames(Buffer.from((await disk.read(PATH)) ?? '').toString('latin1'));
  const least = mode === 'kill' ? before.written : before.durable;
  if (found.length < least) throw new Error(`${found.length} frames are left, ${least} were acknowledged`);
  for (const [index, text] of found.entries())
    if (text !== before.texts[index]) throw new Error(`frame ${index + 1} is ${text.slice(0, 40)}`);
  return { texts: found, written: found.length, durable: before.durable };
}

/** Returns the intact frames. Throws when a frame is missing although a later one says that it was durable. */
function readFrames(text: string): readonly string[] {
  if (text.length > 0 && !text.endsWith('\0')) throw new Error('no zero follows the frames');
  const lines = text.replace(/\0+$/, '').split('\n');
  const good: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (numbersOf(line)?.seq !== good.length + 1 || index === lines.length - 1) break;
    good.push(`${line}\n`);
  }
  for (const line of lines.slice(good.length + 1)) {
    // Zeros may stand before an intact frame that follows a hole.
    const later = numbersOf(line.replace(/^\0+/, ''));
    if (later && later.durable > good.length)
      throw new Error(`frame ${good.length + 1} is damaged, but frame ${later.seq} says that it was durable`);
  }
  return good;
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

function numbersOf(line: string): { readonly seq: number; readonly durable: number } | undefined {
  const [crc, ...rest] = line.split(' ');
  if (crc !== checksum(rest.join(' ')).toString(16)) return undefined;
  return { seq: Number(rest[0]), durable: Number(rest[1]) };
}

function frameOf(seq: number, durable: number, random: Random): string {
  const length = random.pick([3, 40, 200, 700, 1500]);
  const letter = random.pick(['a', 'b', 'c', 'd', 'e']);
  const rest = `${seq} ${durable} ${random.below(2 ** 31)}${letter.repeat(length)}`;
  return `${checksum(rest).toString(16)} ${rest}\n`;
}

async function emptyLog(): Promise<SimulatedDisk> {
  const disk = SimulatedDisk.empty();
  await disk.openRoom(PATH);
  await disk.syncFolder('/');
  return disk;
}

function clockOf(pace: Pace, random: Random) {
  let elapsed = 0;
  const step = () => (pace === 'quick' ? 0.1 : pace === 'slow' ? 9 : random.pick([0.1, 9]));
  return { now: () => new Date(0), elapsed: () => (elapsed += step()), after: () => () => undefined };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
