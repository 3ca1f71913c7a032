/** Runs a command in this process, and captures its output. For tests. */
import type { Command } from 'commander';
import { createProgram } from '../create-program.ts';
import { asksForJson, runCommandLine } from '../run-command-line.ts';
import { openTerminal } from '../terminal.ts';
import type { Ended } from './gdn-place.ts';

export interface Surroundings {
  /** The current folder of the command; the current folder of this process when absent. */
  readonly cwd?: string;
  /** Variables that are merged over the environment of this process; `undefined` unsets a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The width of the terminal. */
  readonly columns?: number | undefined;
}

export function runCaptured(args: readonly string[], around: Surroundings = {}): Promise<Ended> {
  return within(around, () => capture(args, around));
}

/**
 * Starts a command that goes on, and resolves when it first writes to standard output. Only its start has another
 * folder and environment. `onEnd` is called when the command has ended. **Errors** — the error of a command that ends
 * before.
 */
export function startCaptured(args: readonly string[], around: Surroundings, onEnd: () => void): Promise<void> {
  return within(around, () => {
    const first = Promise.withResolvers<void>();
    void capture(args, around, () => first.resolve())
      .then(({ stderr }) => first.reject(new Error(`gdn ${args.join(' ')} ended: ${stderr}`)), first.reject)
      .finally(onEnd);
    return first.promise;
  });
}

async function capture(
  args: readonly string[],
  around: Surroundings,
  onStdout: (text: string) => void = () => undefined,
): Promise<Ended> {
  const printed = { stdout: '', stderr: '' };
  const into = (stream: keyof typeof printed) => (text: string, onWritten?: () => void) => {
    printed[stream] += text;
    if (stream === 'stdout') onStdout(text);
    onWritten?.();
  };
  const screen = around.columns === undefined ? {} : { isTTY: true, columns: around.columns };
  const terminal = openTerminal({
    stdout: { write: into('stdout'), ...screen },
    stderr: { write: into('stderr'), ...screen },
    env: { NO_COLOR: '1', ...around.env },
    json: asksForJson(args),
  });
  return { exitCode: await runCommandLine(args, terminal), ...printed };
}

interface Stay {
  readonly key: string;
  guests: number;
  readonly left: PromiseWithResolvers<void>;
  readonly restore: () => void;
}

// The folder and environment in use now. This state is module-level, because both belong to the whole process: a
// command that needs another folder or environment must wait.
let stay: Stay | undefined;

/** Runs `work` with another current folder and environment of this process, and restores both afterwards. */
async function within<Value>({ cwd, env = {} }: Surroundings, work: () => Promise<Value>): Promise<Value> {
  const key = JSON.stringify([cwd, env, Object.keys(env)]);
  for (let other = stay; other !== undefined && other.key !== key; other = stay) await other.left.promise;
  stay ??= { key, guests: 0, left: Promise.withResolvers(), restore: move(cwd, env) };
  const mine = stay;
  mine.guests += 1;
  try {
    return await work();
  } finally {
    mine.guests -= 1;
    if (mine.guests === 0) {
      mine.restore();
      stay = undefined;
      mine.left.resolve();
    }
  }
}

function move(cwd: string | undefined, env: NonNullable<Surroundings['env']>): () => void {
  const folder = process.cwd();
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  if (cwd !== undefined) process.chdir(cwd);
  set(Object.entries(env));
  return () => {
    process.chdir(folder);
    set(before);
  };
}

function set(variables: readonly (readonly [name: string, value: string | undefined])[]): void {
  for (const [name, value] of variables) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

export interface KnownCommand {
  /** The words of the command, without `gdn`. */
  readonly path: readonly string[];
  readonly command: Command;
}

/** Lists every command of `gdn`: the groups and the commands in them. */
export function allCommands(): KnownCommand[] {
  const silent = { write: () => undefined };
  const program = createProgram(openTerminal({ stdout: silent, stderr: silent, env: {} }), () => undefined);
  return below(program, []);
}

function below(group: Command, path: readonly string[]): KnownCommand[] {
  return group.commands.flatMap((command) => {
    const own = [...path, command.name()];
    return [{ path: own, command }, ...below(command, own)];
  });
}
