/** The chains of one run of a turn, by the keys of their calls. */
import type { LineOf, TraceLine } from '../../trace/trace-lines.ts';

export class ChainsOfRun {
  /** For each number, the line that was written last. */
  readonly #lines = new Map<number, LineOf<'chain'>>();
  readonly #numbers = new Map<string, number>();

  constructor(lines: readonly TraceLine[]) {
    for (const line of lines) {
      if (line.type !== 'chain') continue;
      this.#lines.set(line.n, line);
      if (line.chain.effect !== undefined) this.#numbers.set(line.chain.effect, line.n);
    }
  }

  /** Returns the chain of a call, and the index of the step that it belongs to. */
  find(effect: string): { readonly chain: LineOf<'chain'>['chain']; readonly step?: number } | undefined {
    const line = this.#lines.get(this.#numbers.get(effect) ?? -1);
    if (line === undefined) return undefined;
    const step = this.#stepOf(line);
    return { chain: line.chain, ...(step === undefined ? {} : { step }) };
  }

  #stepOf(line: LineOf<'chain'>): number | undefined {
    // A parent has a lower number, so this ends even if the lines are damaged.
    for (let at: LineOf<'chain'> | undefined = line; at !== undefined; at = this.#parentOf(at)) {
      if (at.chain.kind === 'step') return Number(at.chain.label);
    }
    return undefined;
  }

  #parentOf({ n, parent }: LineOf<'chain'>): LineOf<'chain'> | undefined {
    return parent === undefined || parent >= n ? undefined : this.#lines.get(parent);
  }
}
