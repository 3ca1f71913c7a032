/** The orchestrator's side of the guardian. */
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { type Clock, systemClock } from '../../ports/clock.ts';
import type { GuardianReport } from './guard.ts';
import { checkTag } from './process-tag.ts';

export interface GuardianOptions {
  /** The run's tag; see `newTag`. The orchestrator itself must not carry it. */
  readonly tag: string;
  /** The Bun to run it on; the one that runs this when absent. */
  readonly bun?: string;
  /** What to tell people: that this system has no /proc, so that less is found. */
  readonly warn?: (message: string) => void;
  readonly clock?: Clock;
}

export interface Guardian {
  readonly pid: number;
  /** A child and its process group, for systems without /proc. */
  watch(pid: number): void;
  forget(pid: number): void;
  /** After a clean shutdown: it looks once more, ends what is left, says what that was, and goes. */
  standDown(): Promise<GuardianReport>;
  /** When it is gone; `expected` is false when nobody had stood it down: then start another one. */
  readonly exited: Promise<{ readonly expected: boolean }>;
}

const START_MS = 5_000;
const STAND_DOWN_MS = 7_000;

/** Resolves when it watches: from then on nothing of the run survives this process. Throws `E_PROCESS_START`. */
export async function startGuardian(options: GuardianOptions): Promise<Guardian> {
  const { bun = process.execPath, warn = () => undefined, clock = systemClock } = options;
  const tag = checkTag(options.tag);
  const child = spawn(bun, tag);
  // It must never be what keeps the orchestrator alive.
  child.unref();
  const answers = readAnswers(child.stdout);
  const greeting = await within(clock, START_MS, answers.next());
  if (typeof greeting !== 'object' || greeting === null || !('method' in greeting)) {
    child.kill('SIGKILL');
    throw new GoondanError('E_PROCESS_START', `The guardian did not start within ${START_MS} ms.`);
  }
  if (greeting.method === 'groups') warn(noProc);
  let stoodDown = false;
  const tell = (line: string) => {
    void child.stdin.write(`${line}\n`);
    void child.stdin.flush();
  };
  return {
    pid: child.pid,
    watch: (pid) => tell(`watch ${pid}`),
    forget: (pid) => tell(`forget ${pid}`),
    exited: child.exited.then(() => ({ expected: stoodDown })),
    async standDown() {
      stoodDown = true;
      tell('stand-down');
      const report = await within(clock, STAND_DOWN_MS, answers.next());
      // Our own program's own line.
      if (report !== undefined) return report as GuardianReport;
      throw new GoondanError('E_IPC_CLOSED', 'The guardian gave no report: it is gone, or it hangs.');
    },
  };
}

function spawn(bun: string, tag: string) {
  try {
    return Bun.spawn([bun, ...flags, join(import.meta.dir, 'main.ts'), tag], {
      // No environment: no tag, no secret. Not the folder of a project, which may want to be removed.
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
  } catch (error) {
    throw new GoondanError('E_PROCESS_START', `The guardian cannot be started on ${bun}.`, { cause: error });
  }
}

const flags = ['--config=/dev/null', '--no-env-file', '--no-install', '--smol'];
const noProc =
  'This system has no /proc: after a crash only the process groups of the swarm are ended. ' +
  'A program that a tool starts in a session of its own may be left behind.';

/** One JSON value a line; undefined when there are no more. */
function readAnswers(stream: ReadableStream<Uint8Array<ArrayBuffer>>): { next(): Promise<unknown> } {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  return {
    async next() {
      for (;;) {
        const end = rest.indexOf('\n');
        if (end !== -1) {
          const line = rest.slice(0, end);
          rest = rest.slice(end + 1);
          return JSON.parse(line) as unknown;
        }
        const { value, done } = await reader.read();
        if (done) return undefined;
        rest += value;
      }
    },
  };
}

async function within<Value>(clock: Clock, ms: number, work: Promise<Value>): Promise<Value | undefined> {
  const late = Promise.withResolvers<undefined>();
  const callOff = clock.after(ms, () => late.resolve(undefined));
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    callOff();
  }
}
