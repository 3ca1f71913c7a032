/** Reports each change of a server's status to `gdn status`, traces and Studio. */
import type { ExtensionStatus } from '@goondan/types';
import { cleanText } from '../../text/clean-text.ts';
import type { LastWords } from './mcp-client.ts';

/**
 * The maximum length of a line, in characters. The limit is generous, because the runtime masks secrets and only then
 * cuts lines to their final length. A cut before the masking could leave half of a secret.
 */
const LONGEST_LINE = 2_000;

export class ServerHealth {
  #status: ExtensionStatus = { state: 'idle' };
  #told = '';

  constructor(private readonly emit: (status: ExtensionStatus) => void) {}

  /** Reports that the server is declared, before the first attempt to connect. */
  begin(): void {
    this.#change({});
  }

  /** Sets the command or address of the server, without secrets. */
  aimedAt(target: string): void {
    this.#change({ target });
  }

  connecting(): void {
    const wasThere = this.#status.lost !== undefined;
    this.#change({ state: wasThere ? 'reconnecting' : 'connecting' });
  }

  /** Reports that the server's tools are listed. `withheld`: the tools that are not offered. */
  offers(tools: readonly string[], withheld: readonly { readonly name: string; readonly problem: string }[]): void {
    this.#change({ tools, withheld });
  }

  connected(): void {
    // Keeps the reason of the last lost connection, but drops the reasons of failed first attempts.
    if (this.#status.lost === undefined) {
      const { problem: _, lines: _lines, ...rest } = this.#status;
      this.#status = rest;
    }
    this.#change({ state: 'connected' });
  }

  /**
   * Reports that the connection was lost. `isTriedAgain`: the connection reconnects automatically, in the background.
   */
  lost(problem: string, { exit, lines }: LastWords, isTriedAgain: boolean): void {
    this.#change({
      state: isTriedAgain ? 'reconnecting' : 'idle',
      problem: [problem, exit].filter((text) => text !== '').join(' '),
      lines: lines.map((line) => cleanText(line, LONGEST_LINE)),
      lost: (this.#status.lost ?? 0) + 1,
    });
  }

  failed(problem: string, { lines }: LastWords, isTriedAgain = false): void {
    this.#change({
      state: isTriedAgain ? 'reconnecting' : 'failed',
      problem,
      lines: lines.map((line) => cleanText(line, LONGEST_LINE)),
    });
  }

  /** Reports that the connection was closed on purpose. */
  released(): void {
    this.#change({ state: 'idle' });
  }

  #change(change: Partial<ExtensionStatus>): void {
    const { withheld = [], ...rest } = { ...this.#status, ...change };
    this.#status = withheld.length === 0 ? rest : { ...rest, withheld };
    const told = JSON.stringify(this.#status);
    if (told === this.#told) return;
    this.#told = told;
    this.emit(this.#status);
  }
}
