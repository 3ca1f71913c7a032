import { GoondanError } from '@goondan/types';

/**
 * Bounds the work of one query. Every evaluated part of the query, every item and every character of a new text costs a
 * step, so neither time nor memory grows beyond a multiple of the limit. A query can otherwise double its result with
 * every few characters.
 */
export class Budget {
  #left: number;
  readonly #limit: number;

  constructor(limit: number) {
    this.#left = limit;
    this.#limit = limit;
  }

  spend(steps = 1): void {
    this.#left -= steps;
    if (this.#left >= 0) return;
    throw new GoondanError('E_QUERY_LIMIT', `The query needs more than ${this.#limit} steps on this data.`);
  }
}
