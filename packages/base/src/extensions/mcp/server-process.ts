/**
 * A transport that runs the server as a child process and exchanges messages as lines over stdin and stdout. The SDK's
 * own transport is not used, because it ends only the process that it started. With `npx some-server`, that process is
 * not the server itself.
 *
 * 1. All processes of the server end with it, including processes between us and the server, such as `npx` or a shell.
 * 2. The server carries the tags of the agent process, so the clean-up after a killed agent finds the server.
 * 3. Everything that is read from the server is limited.
 */
import { endTree } from '../../process-tree/end-tree.ts';
import { newProcessTag } from '../../process-tree/read-tree.ts';
import { findExcess, LONGEST_MESSAGE, TOO_LONG } from './bounded-response.ts';
import { LineReader } from './line-reader.ts';
import type { LastWords } from './mcp-client.ts';
import { RequestContexts } from './request-contexts.ts';
import type { StdioTarget } from './server-target.ts';

/** The maximum length of a line of the server's standard error. */
const LONGEST_LINE = 2_000;
/** The maximum number of lines of the server's standard error that are passed on; later lines are dropped. */
const MOST_LINES = 1_000;
/** The number of last lines that are kept to explain an exit. */
const LAST_LINES = 5;
/** How long to wait for the exit: after closing stdin, after SIGTERM, and after SIGKILL. */
const PATIENCE_MS = 400;

/**
 * The transport of one connection; each connection needs a new transport. `parse` throws when a line is not a message.
 */
export class ServerProcess<Message> {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: Message) => void) | undefined;
  readonly #tag = newProcessTag();
  readonly #lastLines: string[] = [];
  readonly #contexts = new RequestContexts();
  #child: Bun.Subprocess<'pipe', 'pipe', 'pipe'> | undefined;
  #ended: Promise<void> = Promise.resolve();
  #exit = '';

  constructor(
    private readonly target: StdioTarget,
    private readonly parse: (line: string) => Message,
    private readonly onServerLine: (line: string) => void,
  ) {}

  /** Starts the process. **Errors** — system errors, such as `ENOENT` when the command does not exist. */
  async start(): Promise<void> {
    const { command, args, environment, cwd } = this.target;
    const child = Bun.spawn([command, ...args], {
      cwd,
      env: { ...environment, ...entryOf(this.#tag) },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
      detached: true,
    });
    this.#child = child;
    const heard = this.#readMessages(child);
    const told = this.#readLines(child);
    this.#ended = child.exited.then(async (code) => {
      this.#exit = child.signalCode === null ? `Its process ended with code ${code}.` : `${child.signalCode} ended it.`;
      // Ends the child processes first, because they may hold the server's output open.
      await endTree({ pid: child.pid, tag: this.#tag }, { graceMs: 0 });
      await Promise.all([heard, told]);
      this.onclose?.();
    });
  }

  async send(message: Message): Promise<void> {
    if (this.#child === undefined || this.#child.exitCode !== null) throw new Error('the server is not running');
    this.#contexts.sent(message);
    void this.#child.stdin.write(`${JSON.stringify(message)}\n`);
    await this.#child.stdin.flush();
  }

  /** Asks the process to exit, then kills it. A second call waits for the first. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return this.#ended;
    this.#child = undefined;
    // The server's input may already be closed.
    await Promise.resolve(child.stdin.end()).catch(() => undefined);
    if (await this.#endsWithin(PATIENCE_MS)) return;
    await endTree({ pid: child.pid, tag: this.#tag }, { graceMs: PATIENCE_MS });
    await this.#endsWithin(PATIENCE_MS);
  }

  /** Describes how the process exited, with the last lines that it printed apart from messages. */
  lastWords(): string {
    const said = this.#lastLines.length === 0 ? '' : `It said: ${this.#lastLines.join(' / ')}`;
    return [this.#exit, said].filter((text) => text !== '').join(' ');
  }

  /** Returns the exit and the last lines as separate fields. */
  get end(): LastWords {
    return { exit: this.#exit, lines: [...this.#lastLines] };
  }

  async #endsWithin(ms: number): Promise<boolean> {
    const timer = Promise.withResolvers<false>();
    const handle = setTimeout(() => timer.resolve(false), ms);
    return Promise.race([this.#ended.then(() => true), timer.promise]).finally(() => clearTimeout(handle));
  }

  async #readMessages({ stdout }: Bun.Subprocess<'pipe', 'pipe', 'pipe'>): Promise<void> {
    const lines = new LineReader(LONGEST_MESSAGE);
    try {
      for await (const chunk of stdout) {
        for (const line of lines.push(chunk)) this.#hear(line);
        if (!lines.isTooLong) continue;
        this.onerror?.(new Error(TOO_LONG));
        break;
      }
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
    // A server that closed its output can no longer answer.
    void this.close();
  }

  #hear(line: string): void {
    if (line === '') return;
    let message: Message;
    try {
      message = this.parse(line);
    } catch (error) {
      const excess = findExcess(error);
      // Some servers print other text on stdout; it is logged, and not an error.
      if (excess === undefined) return this.#keep(line);
      this.onerror?.(new Error(excess));
      // The call that this message answers is unknown, and must not wait for its time limit.
      return void this.close();
    }
    this.#contexts.within(message, () => this.onmessage?.(message));
  }

  async #readLines({ stderr }: Bun.Subprocess<'pipe', 'pipe', 'pipe'>): Promise<void> {
    const lines = new LineReader(LONGEST_LINE);
    let count = 0;
    try {
      for await (const chunk of stderr) {
        for (const line of lines.push(chunk)) {
          count += 1;
          if (count <= MOST_LINES) this.#keep(line);
          else this.#remember(line.slice(0, LONGEST_LINE));
        }
        if (lines.isTooLong) lines.skipLine();
      }
    } catch {
      // The process has exited, and nothing waits for the rest of its output.
    }
    this.#keep(lines.rest());
  }

  #keep(line: string): void {
    if (line === '') return;
    // A complete line may be longer than the limit.
    const kept = line.slice(0, LONGEST_LINE);
    this.#remember(kept);
    this.onServerLine(kept);
  }

  #remember(line: string): void {
    this.#lastLines.push(line);
    if (this.#lastLines.length > LAST_LINES) this.#lastLines.shift();
  }
}

/** Splits a tag `NAME=value` into an environment entry. */
function entryOf(tag: string): Record<string, string> {
  const [name = '', value = ''] = tag.split('=');
  return { [name]: value };
}
