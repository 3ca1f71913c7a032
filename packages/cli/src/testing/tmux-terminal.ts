/** A real terminal with a person's hands: `gdn` in tmux, what is on the screen, and keys. For tests. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hasPart } from '../../../../test/parts.ts';

const launcher = join(import.meta.dir, '..', '..', 'bin', 'gdn.mjs');

/** Why a test that needs it is skipped, where it is not installed. */
export const hasTmux = hasPart('tmux', Bun.which('tmux') !== null);

/** Generous: the machine may be busy. */
const PATIENCE_MS = 40_000;

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

  /** A shell, which is still there when what runs in it has ended. */
  static async open(options: TmuxOptions): Promise<TmuxTerminal> {
    const terminal = new TmuxTerminal(options);
    const { columns, rows } = { ...wide, ...options };
    const size = ['-x', String(columns), '-y', String(rows)];
    const shell = ['env', '-u', 'TMUX', 'PS1=$ ', 'sh'];
    // Its usual configuration would be the person's who runs the test.
    await terminal.#tmux('-f', '/dev/null', 'new-session', '-d', ...size, ...shell);
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
    await this.type(['node', launcher, ...args].map((arg) => `'${arg}'`).join(' '));
    await this.press('Enter');
  }

  /** An empty screen, so that nothing old is taken for something new. */
  async clear(): Promise<void> {
    await this.type('clear');
    await this.press('Enter');
    await this.see(/^\$$/);
  }

  /** How the last command ended, when it has. */
  async exitCode(): Promise<number> {
    await this.type('echo "ended with <$?>"');
    await this.press('Enter');
    const screen = await this.see(/ended with <\d+>/);
    return Number(/ended with <(\d+)>/.exec(screen)?.[1]);
  }

  async type(text: string): Promise<void> {
    await this.#tmux('send-keys', '-l', '--', text);
  }

  /** Keys as tmux calls them: `Enter`, `C-c`, `M-Enter`, `Up`. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux('send-keys', '--', ...keys);
  }

  /** As a terminal pastes, with its marks if the program asked for them. */
  async paste(text: string): Promise<void> {
    await this.#tmux('set-buffer', '--', text);
    await this.#tmux('paste-buffer', '-p');
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#tmux('resize-window', '-x', String(columns), '-y', String(rows));
  }

  /** What is on the screen, without blank rows at its end. */
  async screen(): Promise<string> {
    return (await this.#tmux('capture-pane', '-p')).trimEnd();
  }

  /** The scrollback too, and lines that the terminal has broken as the one line that they are. */
  async everything(): Promise<string> {
    return (await this.#tmux('capture-pane', '-p', '-J', '-S', '-')).trimEnd();
  }

  /** Waits until the cursor is in this column, from 0. */
  async seeCursorAt(column: number): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = Number(await this.#tmux('display-message', '-p', '#{cursor_x}'));
      if (found === column) return;
      if (Date.now() > deadline) throw new Error(`The cursor is in column ${found}, not in ${column}.`);
      await Bun.sleep(50);
    }
  }

  /** What a program may have changed. */
  async modes() {
    const format = '#{cursor_flag} #{wrap_flag}';
    const [cursor, wrap] = (await this.#tmux('display-message', '-p', format)).trim().split(' ');
    return { cursor: cursor === '1', wrap: wrap === '1' };
  }

  /** Asks the shell: echo, whole lines and signals, as it has them. */
  async isCooked(): Promise<boolean> {
    await this.type('stty -a');
    await this.press('Enter');
    await this.see('echoctl');
    return / isig icanon .* echo /.test((await this.everything()).replaceAll('\n', ' '));
  }

  async title(): Promise<string> {
    return (await this.#tmux('display-message', '-p', '#{pane_title}')).trimEnd();
  }

  /** Waits until it is on the screen; gives the screen as it is then. */
  async see(what: string | RegExp): Promise<string> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const screen = await this.screen();
      if (typeof what === 'string' ? screen.includes(what) : what.test(screen)) return screen;
      if (Date.now() > deadline) throw new Error(`This was not seen: ${String(what)}. The screen:\n${screen}`);
      await Bun.sleep(50);
    }
  }

  /** Ends what is left in it. */
  async close(): Promise<void> {
    await this.#tmux('kill-server').catch(() => undefined);
  }

  async #tmux(...args: readonly string[]): Promise<string> {
    const { cwd, env } = this.#options;
    const child = Bun.spawn(['tmux', '-u', '-L', this.#socket, ...args], {
      cwd,
      // Its socket goes with the folder.
      env: { ...process.env, TMUX_TMPDIR: cwd, ...env },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (code === 0) return stdout;
    throw new Error(`tmux ${args.join(' ')}: ${stderr}`);
  }
}
