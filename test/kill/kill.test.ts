import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Random, seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { samples, sampleStep } from '../samples.ts';
import { seed } from '../seed.ts';
import { until } from '../until.ts';

interface Part {
  readonly type: string;
  readonly toolCallId?: string;
  readonly output?: { readonly type: string; readonly value: { readonly code?: string } };
}
interface Line {
  readonly id: string;
  readonly data: { readonly role: string; readonly content: string | readonly Part[] };
}
interface Left {
  readonly transcript: readonly Line[];
  readonly extensionState: unknown;
}

const KILLS = samples(100, 13);
const AT_ONCE = 2;

let folder: string;
let child: string;
let undisturbed: Left;
/**
 * The number of recorded events in a turn without kills. The kills are spread over these events, whatever the speed of
 * the machine.
 */
let happenings: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'goondan-kill-'));
  child = await bundleChild();
  undisturbed = await runToEnd(join(folder, 'undisturbed'));
  happenings = linesOf(join(folder, 'undisturbed')).length;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a process killed with SIGKILL in the middle of a turn of ten steps', () => {
  test(`M-11 ${KILLS} times: the transcript equals the undisturbed one, and no recorded effect happens again`, async () => {
    const rounds = Array.from({ length: KILLS }, (_, round) => round);
    let interrupted = 0;
    let midTurn = 0;
    const worker = async () => {
      for (let round = rounds.shift(); round !== undefined; round = rounds.shift()) {
        const stateRoot = join(folder, String(round));
        const random = seededRandom(seed, round);
        // The kills are spread over the whole turn. Some processes are killed again while they resume the turn.
        if (await killAfter(stateRoot, random)) midTurn++;
        const again = round % 4 === 0;
        if (again) await killAfter(stateRoot, random);
        const left = await runToEnd(stateRoot);
        interrupted += checkTranscript(left);
        checkWorld(linesOf(stateRoot), left, again ? 2 : 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    // If few kills hit a running turn, the test proves nothing.
    expect(midTurn).toBeGreaterThan(KILLS / 2);
    // A kill in the middle of a call that must not be repeated is too rare for the few kills of `npm test`.
    if (sampleStep === 1) expect(interrupted).toBeGreaterThan(0);
  }, 180_000);
});

/**
 * Compares the lines with those of a turn without kills. Only a call of the tool that must not be repeated may be
 * interrupted. Returns the number of such calls.
 */
function checkTranscript(left: Left): number {
  let interrupted = 0;
  const blank = left.transcript.map((line, index) => {
    if (!isInterrupted(line)) return line;
    interrupted++;
    expect(line.id).toBe(undisturbed.transcript[index]?.id ?? '');
    return undisturbed.transcript[index];
  });
  expect(blank).toEqual([...undisturbed.transcript]);
  expect(left.extensionState).toEqual(undisturbed.extensionState);
  return interrupted;
}

/**
 * Checks the real effects. The tool `once` started at most once per call. Every call with a recorded result finished.
 * Only effects that were in progress at a kill were repeated.
 */
function checkWorld(happened: readonly string[], left: Left, kills: number): void {
  const count = (line: string) => happened.filter((other) => other === line).length;
  // A kill repeats at most three lines: the start and the end of a tool whose result was not on disk, and the model
  // call after it.
  expect(happened.length - new Set(happened).size).toBeLessThanOrEqual(3 * kills);
  for (const line of left.transcript) {
    const call = partsOf(line).find(({ type }) => type === 'tool-result')?.toolCallId;
    if (call === undefined) continue;
    const once = Number(call.split('-')[1]) % 2 === 0;
    if (once) expect(count(`begin ${call}`)).toBeLessThanOrEqual(1);
    if (isInterrupted(line)) expect(once).toBe(true);
    else expect(count(`end ${call}`)).toBeGreaterThanOrEqual(1);
  }
}

function isInterrupted(line: Line): boolean {
  return partsOf(line).some(({ output }) => output?.type === 'error-json' && output.value.code === 'E_INTERRUPTED');
}

function partsOf({ data }: Line): readonly Part[] {
  return typeof data.content === 'string' ? [] : data.content;
}

/** Starts the agent and kills it during its turn. Returns true if the turn was still running. */
async function killAfter(stateRoot: string, random: Random): Promise<boolean> {
  const happened = random.below(happenings);
  const started = start(stateRoot);
  await started.accepted;
  await until(() => linesOf(stateRoot).length >= happened || started.process.exitCode !== null);
  // This waits a little, so that the kill happens between two events, during a write or a wait.
  await Bun.sleep(random.below(4_000) / 1_000);
  started.process.kill('SIGKILL');
  await started.process.exited;
  return started.process.signalCode === 'SIGKILL';
}

function linesOf(stateRoot: string): string[] {
  const file = join(stateRoot, 'world.log');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

async function runToEnd(stateRoot: string): Promise<Left> {
  const started = start(stateRoot);
  const output = await started.output;
  expect(`exit ${await started.process.exited}: ${await started.errors}`).toBe('exit 0: ');
  return JSON.parse(output.split('\n')[1] ?? '') as Left;
}

/** Bundles the program once, because a start from its sources would take three times as long. */
async function bundleChild(): Promise<string> {
  const entrypoints = [join(import.meta.dir, 'agent-process.ts')];
  const { outputs } = await Bun.build({ entrypoints, outdir: join(folder, 'program'), target: 'bun', splitting: true });
  return outputs.find(({ kind }) => kind === 'entry-point')?.path ?? '';
}

function start(stateRoot: string) {
  const command = [process.execPath, child, stateRoot, import.meta.dir];
  const running = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' });
  const accepted = Promise.withResolvers<void>();
  const read = async () => {
    let text = '';
    for await (const chunk of running.stdout) {
      text += new TextDecoder().decode(chunk);
      if (text.includes('accepted\n')) accepted.resolve();
    }
    accepted.resolve();
    return text;
  };
  return { process: running, accepted: accepted.promise, output: read(), errors: new Response(running.stderr).text() };
}
