/** A node that `gdn cluster dev` starts: `gdn run` in a process of its own. */
import { GoondanError } from '@goondan/types';
import { launchCommand } from '../../../bin/launch-command.cjs';
import { harmlessText } from '../../harmless-text.ts';

export interface NodeStart {
  readonly name: string;
  /** The arguments of `gdn`. They are visible to every user of the machine. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with each line that the node prints. */
  readonly tell: (line: string) => void;
}

export interface NodeProcess {
  readonly name: string;
  readonly pid: number;
  /** Resolves with the exit code, or with null after a signal. */
  readonly ended: Promise<number | null>;
  /** Ends the process like a machine that loses power; its agents end with it. */
  kill(): void;
  /** Lets running turns finish for a short while. Resolves when the process has ended. */
  stop(): Promise<void>;
}

/** The time from the start until the node accepts input. */
const START_MS = 60_000;
/** The time that a node has to end before it is killed. */
const STOP_MS = 10_000;

/** Resolves when the node accepts input. **Errors** — `E_PROCESS_START`, `E_CANCELLED`. */
export async function startNode({ name, args, env, tell }: NodeStart, signal: AbortSignal): Promise<NodeProcess> {
  const { command, cwd } = launchCommand(process.execPath, process.cwd(), args);
  // In a session of its own: Ctrl-C at the terminal reaches this process only, which ends the nodes in order.
  const child = Bun.spawn(command, { cwd, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', detached: true });
  const said: string[] = [];
  const onExit = () => child.kill('SIGKILL');
  process.once('exit', onExit);
  const ended = child.exited.then(() => {
    process.off('exit', onExit);
    return child.exitCode;
  });
  void eachLine(child.stderr, (line) => {
    said.push(line);
    if (said.length > MOST_SAID) said.shift();
    tell(line);
  });
  const node: NodeProcess = {
    name,
    pid: child.pid,
    ended,
    kill: () => child.kill('SIGKILL'),
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(late);
    },
  };
  const ready = Promise.withResolvers<'ready'>();
  void eachLine(child.stdout, () => ready.resolve('ready'));
  const limit = AbortSignal.any([signal, AbortSignal.timeout(START_MS)]);
  const stopped = new Promise<'late'>((resolve) => {
    limit.addEventListener('abort', () => resolve('late'), { once: true });
    if (limit.aborted) resolve('late');
  });
  const outcome = await Promise.race([ready.promise, stopped, ended.then(() => 'ended' as const)]);
  if (outcome === 'ready') return node;
  node.kill();
  await ended;
  if (signal.aborted) throw new GoondanError('E_CANCELLED', 'The cluster was ended before it was ready.');
  const why = outcome === 'late' ? `is not ready after ${START_MS} ms` : 'ended before it was ready';
  throw new GoondanError(
    'E_PROCESS_START',
    `Node ${name} ${why}.${said.length === 0 ? '' : ` It said:\n${said.join('\n')}`}`,
  );
}

/** The number of lines of a node that an error repeats. */
const MOST_SAID = 10;
const LONGEST_LINE = 4_000;

async function eachLine(stream: ReadableStream<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of stream) {
    const lines = `${rest}${decoder.decode(piece, { stream: true })}`.split('\n');
    rest = (lines.pop() ?? '').slice(-LONGEST_LINE);
    for (const line of lines) onLine(harmlessText(line));
  }
}
