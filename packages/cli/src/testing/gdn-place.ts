/**
 * A temporary folder for tests, with bundles and its own state root, in which tests run `gdn`.
 * 1. `run` runs a command in this process. Most tests are about the work of a command, and a process would be slower.
 * 2. `runProcess` and `start` start real processes, for tests about processes, streams and signals. They work like the
 *    launcher, but do not use it, because Node is slow to start. `launcher.process.test.ts` and others test the
 *    launcher.
 * The folder is made at its first use, and a new one after `remove`, so that tests in turn can use the same place.
 */
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchCommand } from '../../bin/launch-command.cjs';
import { mainFile, programFile } from '../../bin/program-file.cjs';
import { runCaptured, startCaptured } from './run-captured.ts';

export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export interface StartOptions {
  readonly stdin?: string;
  /** Variables that are merged over the environment of this process; `undefined` unsets a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The current folder of the command; the place's folder when absent. */
  readonly cwd?: string;
}

export class GdnPlace {
  #folder: string | undefined;
  /** The swarms that this process serves. */
  readonly #served = new Set<{ readonly bundle: string }>();

  get folder(): string {
    return (this.#folder ??= realpathSync(mkdtempSync(join(tmpdir(), 'gdn-'))));
  }

  get stateRoot(): string {
    return join(this.folder, 'state');
  }

  /** The folder of the only workspace in the state root. */
  get workspace(): string {
    const [name = ''] = readdirSync(join(this.stateRoot, 'workspaces'));
    return join(this.stateRoot, 'workspaces', name);
  }

  /** Writes files, given as path → text; returns their folder. */
  async write(name: string, files: Readonly<Record<string, string>>): Promise<string> {
    const folder = join(this.folder, name);
    for (const [path, text] of Object.entries(files)) await Bun.write(join(folder, path), text);
    return folder;
  }

  start(...args: string[]) {
    return this.startWith({}, ...args);
  }

  startWith({ stdin, env = {}, cwd = this.folder }: StartOptions, ...args: string[]) {
    const launch = launchOf(cwd, args);
    return Bun.spawn(launch.command, {
      cwd: launch.cwd,
      env: { ...process.env, GOONDAN_STATE_ROOT: this.stateRoot, ...env },
      stdin: stdin === undefined ? 'ignore' : Buffer.from(stdin),
      stdout: 'pipe',
      stderr: 'pipe',
    });
  }

  run(...args: string[]): Promise<Ended> {
    return this.runWith({}, ...args);
  }

  runWith({ env, cwd = this.folder }: Omit<StartOptions, 'stdin'>, ...args: string[]): Promise<Ended> {
    return runCaptured(args, { cwd, env: { GOONDAN_STATE_ROOT: this.stateRoot, ...env } });
  }

  /**
   * Serves a bundle in this process, like `gdn run`, until `gdn stop`; resolves when the swarm accepts input. Its
   * agents have processes of their own, as always. A process for the swarm, with `--detach`, would take five times as
   * long; tests about that process, or about killing it, need one.
   */
  serve(bundle: string): Promise<void> {
    return this.serveWith({}, bundle);
  }

  async serveWith({ env }: Pick<StartOptions, 'env'>, bundle: string): Promise<void> {
    const around = { cwd: this.folder, env: { GOONDAN_STATE_ROOT: this.stateRoot, ...env } };
    const swarm = { bundle };
    this.#served.add(swarm);
    await startCaptured(['run', bundle, '--trust', '--json'], around, () => void this.#served.delete(swarm));
  }

  runProcess(...args: string[]): Promise<Ended> {
    return this.runProcessWith({}, ...args);
  }

  runProcessWith(options: StartOptions, ...args: string[]): Promise<Ended> {
    return ended(this.startWith(options, ...args));
  }

  /**
   * Runs `gdn` on a terminal, types `keys` when `whenSeen` appears, and returns the screen. `onSeen` gets a function
   * with which it can type later. `typedAhead` is typed at once, before `gdn` can print anything.
   */
  async runOnTerminal(
    args: readonly string[],
    typing: { whenSeen: string; keys?: string; onSeen?: (type: (keys: string) => void) => void }[] = [],
    { env = {}, cwd = this.folder, typedAhead = '' }: Omit<StartOptions, 'stdin'> & { typedAhead?: string } = {},
  ) {
    let screen = '';
    const pieces: string[] = [];
    const left = [...typing];
    const launch = launchOf(cwd, args);
    const child = Bun.spawn(launch.command, {
      cwd: launch.cwd,
      env: { ...process.env, GOONDAN_STATE_ROOT: this.stateRoot, TERM: 'xterm', NO_COLOR: '1', ...env },
      terminal: {
        cols: 300,
        data(terminal, bytes) {
          pieces.push(new TextDecoder().decode(bytes));
          screen += pieces.at(-1) ?? '';
          const [next] = left;
          if (next === undefined || !screen.includes(next.whenSeen)) return;
          left.shift();
          next.onSeen?.((keys) => void terminal.write(keys));
          if (next.keys !== undefined) terminal.write(next.keys);
        },
      },
    });
    if (typedAhead !== '') child.terminal?.write(typedAhead);
    return { exitCode: await child.exited, screen: screen.replaceAll('\r\n', '\n'), pieces };
  }

  /** Lists the command lines of all processes that run in this place. */
  processes(): string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
      .map((pid) => `${pid} ${readCommandLine(pid)}`)
      .filter((line) => line.includes(this.folder));
  }

  /**
   * Removes the place. Stops the swarms that a failed test has left in this process. Waits a little until its processes
   * exit, kills those that remain, and returns their command lines.
   */
  async remove(): Promise<string[]> {
    if (this.#folder === undefined) return [];
    for (const { bundle } of this.#served) await this.run('stop', '--bundle', bundle);
    const deadline = Date.now() + 10_000;
    while (this.processes().length > 0 && Date.now() < deadline) await Bun.sleep(10);
    const left = this.processes();
    for (const line of left) process.kill(Number(line.split(' ')[0]), 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
    this.#folder = undefined;
    return left;
  }
}

/**
 * Returns the command of the launcher. In a checkout, each `gdn` compares the times of all sources; a test process does so
 * once for all of its commands.
 */
function launchOf(cwd: string, args: readonly string[]) {
  const { command, ...launch } = launchCommand(process.execPath, cwd, args);
  return { ...launch, command: command.with(command.indexOf(mainFile()), programFile('main')) };
}

async function ended(child: ReturnType<GdnPlace['start']>): Promise<Ended> {
  const [out, err] = [new Response(child.stdout), new Response(child.stderr)];
  const [stdout, stderr, exitCode] = await Promise.all([out.text(), err.text(), child.exited]);
  return { stdout, stderr, exitCode };
}

function readCommandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
