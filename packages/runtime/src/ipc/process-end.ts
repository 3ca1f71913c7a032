/** The end of a child process: it exits once, after its last message or when the orchestrator has exited. */
import { type Clock, waitAtMost } from '../ports/clock.ts';
import type { Channel } from './channel/channel.ts';

/** The maximum time to wait until the orchestrator has received the last messages. */
const LAST_WORDS_MS = 2_000;

export class ProcessEnd<Out> {
  #exitCode = 0;
  #hasExited = false;

  constructor(
    private readonly channel: Pick<Channel<Out, unknown>, 'send' | 'onClose' | 'closeAfterFlush'>,
    private readonly clock: Clock,
    /** Ends the process. */
    private readonly exit: (code: number) => void,
  ) {}

  /** Exits when the orchestrator has exited. */
  watch(): void {
    this.channel.onClose(() => this.#exit());
  }

  /** Sends the last message, and exits with this code. */
  async after(lastWord: Out, code: number): Promise<void> {
    this.#exitCode = code;
    this.channel.send(lastWord).catch(() => undefined);
    await waitAtMost(this.clock, LAST_WORDS_MS, this.channel.closeAfterFlush());
    this.#exit();
  }

  #exit(): void {
    if (this.#hasExited) return;
    this.#hasExited = true;
    this.exit(this.#exitCode);
  }
}
