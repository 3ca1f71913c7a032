/**
 * The program of the Bun process that runs beside a Node program and answers the calls of `ipc/bun-beside.ts`. Its only
 * argument is the working folder of the Node program. When its standard input ends, the process exits at once, and the
 * guardian ends the agents.
 */
import type { BesideCall, BesideSaid } from './ipc/bun-beside.ts';
import { toFrameError } from './ipc/check/frame-error.ts';
import { readLines, toLine } from './ipc/json-lines.ts';
import { delayCompiling } from './ports/delay-compiling.ts';
import type { LogLine } from './ports/log-line.ts';
import type { SwarmToStart } from './start-beside.ts';

delayCompiling();
const [, , folder = '/'] = process.argv;
process.chdir(folder);
// A write fails only when the Node program has exited, and then standard input ends, too.
process.stdout.on('error', () => undefined);

/**
 * The maximum number of bytes of output that the Node program has not read yet. When there are more, log lines are
 * dropped.
 */
const MOST_UNREAD = 16_000_000;
let dropped = 0;

const calls: Readonly<Record<BesideCall['name'], () => Promise<(argument: never) => unknown>>> = {
  replayRecording: async () => (await import('./replay-recording.ts')).replayStored,
  scanModule: async () => {
    const { ModuleScanner } = await import('./config/bundle/files/scan-module.ts');
    const scanner = new ModuleScanner();
    return ({ file, root }: { file: string; root: string }) => scanner.scan(file, root);
  },
  startSwarm: async () => start,
};
/**
 * The functions that were already called. They are kept, because a scanner counts the files that it has read in all
 * calls together.
 */
const opened = new Map<BesideCall['name'], Promise<(argument: never) => unknown>>();

let last = Promise.resolve();
for await (const call of readLines<BesideCall>(process.stdin)) {
  last = last.then(async () => say(await answer(call)));
}
process.exit(0);

async function answer({ name, argument }: BesideCall): Promise<BesideSaid> {
  try {
    const known = opened.get(name) ?? calls[name]();
    opened.set(name, known);
    const run = await known;
    // Safe: both programs belong to one package, so the argument has the type of its call.
    return { answer: await run(argument as never) };
  } catch (error) {
    return { error: toFrameError(error, 'E_PROCESS_START') };
  }
}

/** Starts a swarm, and answers with the id of its workspace, from which the control socket can be found. */
async function start({ wantsLog, ...options }: SwarmToStart): Promise<string> {
  const { startSwarm } = await import('./start-swarm.ts');
  const swarm = await startSwarm({ ...options, ...(wantsLog ? { onLog: sayLog } : {}) });
  void swarm.stopped.then(() => {
    const { failure } = swarm;
    if (failure !== undefined) say({ failure: toFrameError(failure, 'E_PROCESS_START') });
    // Exits only after the last log lines were written.
    process.stdout.write('', () => process.exit(failure === undefined ? 0 : 1));
  });
  const { workspaceId } = await swarm.status();
  return workspaceId;
}

/** Drops and counts log lines while the program reads too slowly. */
function sayLog(log: LogLine): void {
  if (process.stdout.writableLength > MOST_UNREAD) {
    dropped += 1;
    return;
  }
  if (dropped > 0) {
    const message = `${dropped} log lines before this one were dropped: onLog did not keep up.`;
    say({ log: { time: log.time, level: 'warn', event: 'log.dropped', message } });
    dropped = 0;
  }
  say({ log });
}

function say(said: BesideSaid): void {
  process.stdout.write(toLine(said));
}
