/** The waits of a layer, or of the handler of a tool, for people, and the answers of these people. */
import { defined } from '../json/defined.ts';
import type { GivenAnswer, LayerRecord } from './turn-trace.ts';

/** The maximum number of answers that are kept. */
const MOST_ANSWERS = 16;

export class AskedPeople {
  /** The time at which the wait began; undefined while no question is open. */
  since: number | undefined = undefined;
  #waitedMs: number | undefined = undefined;
  readonly #answers: GivenAnswer[] = [];
  #open = 0;

  begin(now: number): void {
    this.#open++;
    this.since ??= now;
  }

  /**
   * Ends a question; `answer` is absent if nobody answered it. Returns the time at which the wait began, or `undefined`
   * while another question is open.
   */
  end(now: number, answer?: GivenAnswer): number | undefined {
    if (answer !== undefined && this.#answers.length < MOST_ANSWERS) this.#answers.push(answer);
    this.#open--;
    if (this.#open > 0) return undefined;
    const since = this.since ?? now;
    this.since = undefined;
    this.#waitedMs = (this.#waitedMs ?? 0) + now - since;
    return since;
  }

  describe(): Pick<LayerRecord, 'waitedMs' | 'answers'> {
    const answers = this.#answers.length === 0 ? undefined : [...this.#answers];
    return defined({ waitedMs: this.#waitedMs, answers });
  }
}
