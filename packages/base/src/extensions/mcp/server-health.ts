/** How a server is, told whenever that changes: `gdn status`, traces and Studio show it. */
import type { ExtensionStatus } from '@goondan/types';
import { cleanText } from './clean-text.ts';
import type { LastWords } from './mcp-client.ts';

/** As much as is read of a line. The runtime masks secrets and cuts then: a cut before would leave half of one. */
const LONGEST_LINE = 2_000;

/** A tool that the server has and that is not offered. */
export interface WithheldName {
  readonly name: string;
  readonly problem: string;
}

export class ServerHealth {
  readonly #emit: (status: ExtensionStatus) => void;
  #status: ExtensionStatus = { state: 'idle' };
  #told = '';

  constructor(emit: (status: ExtensionStatus) => void) {
    this.#emit = emit;
  }

  /** It is known, and nothing was tried yet. */
  begin(): void {
    this.#change({});
  }

  /** Where it is; without secrets. */
  aimedAt(target: string): void {
    this.#change({ target });
  }

  connecting(): void {
    const wasThere = this.#status.lost !== undefined;
    this.#change({ state: wasThere ? 'reconnecting' : 'connecting' });
  }

  /** Its tools are listed. */
  offers(tools: readonly string[], withheld: readonly WithheldName[]): void {
    this.#change({ tools, withheld });
  }

  connected(): void {
    // Why it was lost the last time is still of interest; why the first attempts failed is not.
    if (this.#status.lost === undefined) {
      const { problem: _, lines: _lines, ...rest } = this.#status;
      this.#status = rest;
    }
    this.#change({ state: 'connected' });
  }

  /** `isTriedAgain`: by itself, in the background. */
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

  /** The connection was ended on purpose. */
  released(): void {
    this.#change({ state: 'idle' });
  }

  #change(change: Partial<ExtensionStatus>): void {
    const { withheld = [], ...rest } = { ...this.#status, ...change };
    this.#status = withheld.length === 0 ? rest : { ...rest, withheld };
    const told = JSON.stringify(this.#status);
    if (told === this.#told) return;
    this.#told = told;
    this.#emit(this.#status);
  }
}
