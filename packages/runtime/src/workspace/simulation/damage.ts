/**
 * Damages every file of an instance in every way a disk or a person can, then opens the instance and checks the result.
 * There are two valid results. Either the conversation is unchanged, with a warning if the end of a log is missing. Or
 * opening fails with an error code, and the damaged file is copied aside. A conversation must never lose messages
 * without a report.
 */
import { type ErrorCode, GoondanError } from '@goondan/types';
import { openJournal, type Journal } from '../journal/journal.ts';
import { segmentPath } from '../inbox/inbox-segments.ts';
import { inboxFolder, instancePaths, workspaceFolder } from '../layout/instance-paths.ts';
import { BLOCK } from './file-changes.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { simulatedLimits, simulatedLocation, simulatedMachine, type SimulatedMachine } from './simulated-machine.ts';
import { runScriptedTurn } from './run-scripted-turn.ts';
import { makeWorkload, type Input } from './workload.ts';
import { newWorld } from './world.ts';

export interface DamageReport {
  readonly cases: number;
  /** How often each outcome occurred: an error code, `repaired`, or `unharmed`. */
  readonly endings: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
}

export interface Damage {
  readonly name: string;
  readonly file: string;
  /** The damaged contents; `undefined` deletes the file. */
  readonly bytes: Uint8Array | undefined;
  /** True if a crash during the last write can leave the same: whole blocks or the end are missing. */
  readonly isLikeCrash: boolean;
}

export const damagedInstance = { agentName: 'coder', instanceKey: 'default' };
const workspace = workspaceFolder(simulatedLocation.stateRoot, simulatedLocation.workspaceId);
const paths = instancePaths(workspace, damagedInstance);
const inboxPath = segmentPath(inboxFolder(workspace), 1);

/**
 * Creates an instance in which no file is empty: it has committed turns, an interrupted turn, and a pending event.
 * `isInterrupted`: if false, the third turn is committed, so that the log ends with a commit.
 */
export async function makeInstance(isInterrupted = true): Promise<SimulatedDisk> {
  const disk = SimulatedDisk.empty();
  const ports = simulatedMachine(disk, 1);
  const journal = await openJournal(ports, simulatedLocation, {
    ...simulatedLimits,
    archive: { bytes: 1e6, files: 10 },
    inboxCompactionBytes: 1e6,
    // The second turn stays behind the checkpoint that the first turn gets.
    checkpointBytes: 1e6,
  });
  const { inputs } = makeWorkload(1);
  const steps = [{ outcome: 'completed', tools: [{ isIdempotent: false }], isOneWrite: false } as const];
  const script = { steps, note: true, edit: 'none', fails: false, state: 'count' } as const;
  const [sample] = inputs;
  if (!sample) throw new Error('a workload without inputs');
  for (let index = 0; index < 4; index += 1) {
    const replyTo = { target: 'client', correlationId: String(index) };
    const event = { ...sample.event, id: `e${index}`, instanceKey: 'default', replyTo };
    const { seq } = await journal.accept(damagedInstance, event);
    // The first turn is given up at once, the third is interrupted, and the fourth never starts.
    const input = { ...sample, instance: damagedInstance, event, script };
    if (index < 3) await runTurn(journal, input, seq, index === 0, isInterrupted && index === 2);
    // Closing writes a checkpoint, so that some turns are before it and some after it.
    if (index === 0) await journal.close(damagedInstance);
  }
  return disk;
}

async function runTurn(
  journal: Journal,
  input: Input,
  seq: number | undefined,
  isGivenUp: boolean,
  isInterrupted: boolean,
): Promise<void> {
  const interrupted: Journal = { ...journal, commit: () => Promise.reject(new Error('interrupted')) };
  const store = isInterrupted ? interrupted : journal;
  const run = {
    store,
    world: newWorld(),
    input,
    seq,
    crashesBeforeDeadLetter: isGivenUp ? 0 : 9,
    meanwhile: async () => undefined,
  };
  await runScriptedTurn(run).catch((error: unknown) => {
    if (!isInterrupted) throw error;
  });
}

export async function* damages(disk: SimulatedDisk): AsyncGenerator<Damage> {
  for (const file of await filesOf(disk)) {
    const bytes = (await disk.read(file)) ?? new Uint8Array();
    const content = bytes.findLastIndex((byte) => byte !== 0) + 2;
    for (let size = Math.max(0, content - 4096); size < Math.min(content, bytes.length); size += 1) {
      // Even a cut between two lines is seen, because zeros must follow the last one.
      yield { name: `cut at ${size}`, file, bytes: bytes.subarray(0, size), isLikeCrash: false };
    }
    for (const [name, damaged] of changes(bytes)) {
      const isEndLost = damaged?.length === bytes.length && damaged[content - 2] === 0;
      const isLikeCrash = isEndLost || name.startsWith('lost blocks');
      yield { name, file, bytes: damaged, isLikeCrash };
    }
  }
}

function* changes(bytes: Uint8Array): Generator<[name: string, changed: Uint8Array | undefined]> {
  for (let at = 0; at < bytes.length; at += 7) {
    yield [`bit flipped at ${at}`, changed(bytes, at, at + 1, (byte) => byte ^ (1 << (at % 8)))];
  }
  for (let at = 0; at < bytes.length; at += 97) {
    const end = Math.min(bytes.length, at + 300);
    yield [`zeros from ${at} to ${end}`, changed(bytes, at, end, () => 0)];
  }
  for (let at = 0; at + BLOCK < bytes.length; at += BLOCK) {
    for (const end of [at + BLOCK, at + 2 * BLOCK])
      yield [`lost blocks from ${at} to ${end}`, changed(bytes, at, Math.min(end, bytes.length), () => 0)];
  }
  const text = new TextDecoder().decode(bytes);
  const lines = text.split('\n');
  // Without its last line, a file would look as if that line had never been written.
  for (let line = 0; line < lines.length - 2; line += 1)
    yield [`without line ${line + 1}`, Buffer.from(lines.toSpliced(line, 1).join('\n'))];
  const long = Buffer.alloc(10 * 2 ** 20, 'a');
  yield ['CRLF', Buffer.from(text.replaceAll('\n', '\r\n'))];
  yield ['a line of 10 MB', Buffer.concat([bytes, long, Buffer.from('\n')])];
  yield ['10 MB without a line break', Buffer.concat([bytes, long])];
  yield ['its first line twice', Buffer.from(text.slice(0, text.indexOf('\n') + 1) + text)];
  yield ['deleted', undefined];
}

async function filesOf(disk: SimulatedDisk): Promise<string[]> {
  const extensions = ((await disk.list(paths.extensions)) ?? []).map((name) => `${paths.extensions}/${name}`);
  const logs = [inboxPath, paths.base, paths.events];
  return [paths.metadata, ...logs, ...extensions];
}

function changed(bytes: Uint8Array, from: number, to: number, change: (byte: number) => number): Uint8Array {
  const copy = new Uint8Array(bytes);
  for (let at = from; at < to; at += 1) copy[at] = change(copy[at] ?? 0);
  return copy;
}

/** Tries all cases, or every `step`th case. If `stopAtFirst` is true, stops at the first problem. */
export async function tryDamages(step = 1, { stopAtFirst = false } = {}): Promise<DamageReport> {
  const endings = new Map<string, number>();
  const problems: string[] = [];
  let cases = 0;
  for (const isInterrupted of [true, false]) {
    const disk = await makeInstance(isInterrupted);
    const sound = await observe(simulatedMachine(disk.copy(), 2));
    for await (const damage of damages(disk)) {
      // The other files are like those of the first instance.
      if (!isInterrupted && (damage.file !== paths.events || damage.isLikeCrash)) continue;
      cases += 1;
      if (cases % step !== 0) continue;
      const ending = await tryDamage(disk, damage, sound).catch((error: unknown) => {
        problems.push(`${damage.file}, ${damage.name}: ${error instanceof Error ? error.message : String(error)}`);
        return 'problem';
      });
      endings.set(ending, (endings.get(ending) ?? 0) + 1);
      if (stopAtFirst && problems.length > 0) return { cases: Math.floor(cases / step), endings, problems };
    }
  }
  return { cases: Math.floor(cases / step), endings, problems };
}

/** The codes that report damage. */
const reports: readonly ErrorCode[] = ['E_STORE_CORRUPT', 'E_STORE_INSTANCE'];

async function tryDamage(sound: SimulatedDisk, damage: Damage, before: Observation): Promise<string> {
  const disk = sound.copy();
  await disk.remove(damage.file);
  if (damage.bytes) await disk.createNew(damage.file, damage.bytes);
  const machine = simulatedMachine(disk, 2);
  try {
    const after = await observe(machine);
    // A crash can leave the same bytes without the last input, which was then not acknowledged. Other damage cannot.
    if (!damage.isLikeCrash && JSON.stringify(after.pending) !== JSON.stringify(before.pending))
      throw new Error('accepted input is missing');
    return judge(before, after, machine.warnings.length > 0);
  } catch (error) {
    // Another code would mean that the conversation was opened, and continues without the lost part.
    if (!(error instanceof GoondanError && reports.includes(error.code))) throw error;
    if (error.code === 'E_STORE_CORRUPT') await checkKeptAside(disk, damage);
    return error.code;
  }
}

interface Observation {
  readonly committed: string;
  readonly archive: readonly string[];
  readonly log: readonly string[];
  readonly pending: readonly string[];
  readonly queues: readonly string[];
}

async function observe(machine: SimulatedMachine): Promise<Observation> {
  const orchestrator = await openJournal(machine, simulatedLocation, simulatedLimits);
  const journal = await openJournal(machine, simulatedLocation, simulatedLimits);
  // Makes the orchestrator open the inbox.
  const [event] = makeWorkload(1).inputs.map((input) => ({ ...input.event, id: 'e0' }));
  if (event) await orchestrator.accept(damagedInstance, event);
  const told = (await orchestrator.pendingEntries(damagedInstance)).find(({ event: { id } }) => id === 'e2');
  const opened = await journal.open(damagedInstance, 'turn-e2', told);
  const { messages, version, extensionState } = await journal.read(damagedInstance);
  const archive: string[] = [];
  for await (const turn of journal.archive(damagedInstance)) archive.push(JSON.stringify(turn));
  const letters = (await journal.deadLetters.list(damagedInstance)).map((letter) => JSON.stringify(letter));
  const replies = (await journal.outbox.pending(damagedInstance)).map((entry) => JSON.stringify(entry));
  return {
    committed: JSON.stringify({ messages, version, extensionState: { ...extensionState } }),
    archive,
    log: opened.log.map((record) => JSON.stringify(record)),
    pending: (await journal.pending(damagedInstance)).map((pending) => JSON.stringify(pending)),
    queues: [...letters, ...replies],
  };
}

function judge(before: Observation, after: Observation, isKnown: boolean): string {
  if (after.committed !== before.committed) throw new Error('another conversation');
  if (JSON.stringify(after.archive) !== JSON.stringify(before.archive)) throw new Error('another archive');
  for (const part of ['log', 'pending'] as const) {
    const isPrefix = after[part].every((each, index) => each === before[part][index]);
    if (!isPrefix) throw new Error(`another ${part}: ${after[part].join('\n')}`);
  }
  if (!after.queues.every((each) => before.queues.includes(each))) throw new Error('something new in a queue');
  if (JSON.stringify(after) === JSON.stringify(before)) return isKnown ? 'repaired' : 'unharmed';
  if (!isKnown) throw new Error('something is missing, and nobody was told');
  return 'repaired';
}

async function checkKeptAside(disk: SimulatedDisk, { file, bytes }: Damage): Promise<void> {
  if (!bytes) return;
  const now = await disk.read(file);
  if (!now || Buffer.compare(now, bytes) !== 0) throw new Error('the damaged file was changed');
  const folder = file.slice(0, file.lastIndexOf('/'));
  const copies = ((await disk.list(folder)) ?? []).filter((name) => name.includes('.corrupt-'));
  if (copies.length === 0) throw new Error('nothing was kept aside');
}
