/** For tests: runs `gdn` in a real terminal (tmux), reads its screen, and presses keys. */
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { hasPart } from '../../../../test/parts.ts';

const launcher = join(import.meta.dir, '..', '..', 'bin', 'gdn.cjs');

/** False where tmux is not installed. Tests that need tmux are then skipped. */
export const hasTmux = hasPart('tmux', Bun.which('tmux') !== null);

/** This timeout is long, because the machine may be busy. */
const PATIENCE_MS = 40_000;

/** How long a screen may stay unread although nothing was written, because tmux also redraws by itself. */
const LOOK_AGAIN_MS = 500;

export interface TmuxOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

const wide = { columns: 100, rows: 30 };

export class TmuxTerminal {
  readonly #socket = `gdn-${randomBytes(6).toString('hex')}`;
  readonly #options: TmuxOptions;

  private constructor(options: TmuxOptions) {
    this.#options = options;
  }

  /** Opens a terminal with a shell, which keeps running when its program exits. */
  static async open(options: TmuxOptions): Promise<TmuxTerminal> {
    const terminal = new TmuxTerminal(options);
    const { columns, rows } = { ...wide, ...options };
    const size = ['-x', String(columns), '-y', String(rows)];
    const shell = ['env', '-u', 'TMUX', 'PS1=$ ', 'sh'];
    // Without `-f`, tmux would read the configuration of the person who runs the test.
    const session = ['new-session', '-d', ...size, ...shell];
    // Copies all output to a file, whose size tells whether the screen has changed. The shell finds the folder in a
    // variable, so that the command line does not contain it: tests look for processes whose command line does.
    const copy = ['pipe-pane', 'exec cat >"$TMUX_TMPDIR/terminal-output"'];
    await terminal.#tmux('-f', '/dev/null', ...session, ';', ...copy);
    try {
      await terminal.see('$');
      return terminal;
    } catch (error) {
      await terminal.close();
      throw error;
    }
  }

  /** Types a command line into the shell. */
  async run(...args: readonly string[]): Promise<void> {
    await this.enter(['node', launcher, ...args].map((arg) => `'${arg}'`).join(' '));
  }

  /** Clears the screen, so that old text is not mistaken for new text. */
  async clear(): Promise<void> {
    await this.enter('clear');
    await this.see(/^\$$/);
  }

  /** Returns the exit code of the last command. */
  async exitCode(): Promise<number> {
    await this.enter('echo "ended with <$?>"');
    const screen = await this.see(/ended with <\d+>/);
    return Number(/ended with <(\d+)>/.exec(screen)?.[1]);
  }

  async type(text: string): Promise<void> {
    await this.#tmux('send-keys', '-l', '--', asText(text));
  }

  /** Types a line, and presses Enter. */
  async enter(line: string): Promise<void> {
    await this.#tmux('send-keys', '-l', '--', asText(line), ';', 'send-keys', 'Enter');
  }

  /** Presses keys, with tmux's names: `Enter`, `C-c`, `M-Enter`, `Up`. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux('send-keys', '--', ...keys);
  }

  /** Pastes as a terminal does, with bracketed paste if the program enabled it. */
  async paste(text: string): Promise<void> {
    await this.#tmux('set-buffer', '--', asText(text));
    await this.#tmux('paste-buffer', '-p');
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#tmux('resize-window', '-x', String(columns), '-y', String(rows));
  }

  /** Returns the screen, without blank rows at its end. */
  async screen(): Promise<string> {
    return (await this.#tmux('capture-pane', '-p')).trimEnd();
  }

  /** Returns the screen and the scrollback, with wrapped lines joined. */
  async everything(): Promise<string> {
    return (await this.#tmux('capture-pane', '-p', '-J', '-S', '-')).trimEnd();
  }

  /** Waits until the cursor is in this column, counted from 0. */
  async seeCursorAt(column: number): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = Number(await this.#tmux('display-message', '-p', '#{cursor_x}'));
      if (found === column) return;
      if (Date.now() > deadline) throw new Error(`The cursor is in column ${found}, not in ${column}.`);
      await Bun.sleep(50);
    }
  }

  /** Returns the terminal modes that a program may have changed. */
  async modes() {
    const format = '#{cursor_flag} #{wrap_flag}';
    const [cursor, wrap] = (await this.#tmux('display-message', '-p', format)).trim().split(' ');
    return { cursor: cursor === '1', wrap: wrap === '1' };
  }

  /** Asks the shell whether echo, line mode and signals have their usual settings. */
  async isCooked(): Promise<boolean> {
    await this.enter('stty -a');
    await this.see('echoctl');
    return / isig icanon .* echo /.test((await this.everything()).replaceAll('\n', ' '));
  }

  async title(): Promise<string> {
    return (await this.#tmux('display-message', '-p', '#{pane_title}')).trimEnd();
  }

  /** Waits until the text is on the screen; returns the screen. */
  async see(what: string | RegExp): Promise<string> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const written = this.#writtenBytes();
      const screen = await this.screen();
      if (typeof what === 'string' ? screen.includes(what) : what.test(screen)) return screen;
      if (Date.now() > deadline) throw new Error(`This was not seen: ${String(what)}. The screen:\n${screen}`);
      // Reading the screen starts a process, so it is not read again before something was written.
      const lookAgainAt = Date.now() + LOOK_AGAIN_MS;
      do await Bun.sleep(15);
      while (this.#writtenBytes() === written && Date.now() < lookAgainAt);
    }
  }

  #writtenBytes(): number {
    return statSync(join(this.#options.cwd, 'terminal-output'), { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Ends every process in the terminal. */
  async close(): Promise<void> {
    await this.#tmux('kill-server').catch(() => undefined);
  }

  async #tmux(...args: readonly string[]): Promise<string> {
    const { cwd, env } = this.#options;
    const child = Bun.spawn(['tmux', '-u', '-L', this.#socket, ...args], {
      cwd,
      // The socket of tmux is in this folder, so that it is removed together with the folder.
      env: { ...process.env, TMUX_TMPDIR: cwd, ...env },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (code === 0) return stdout;
    throw new Error(`tmux ${args.join(' ')}: ${stderr}`);
  }
}

/** Escapes a `;` at the end, which would end the command of tmux. */
function asText(argument: string): string {
  return argument.replace(/;$/, '\\;');
}
