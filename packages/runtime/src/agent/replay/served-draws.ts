/**
 * Draws in a replay: the recorded values, in order for each kind. After the last recorded value, the clock continues
 * from the last time and advances by a millisecond with each read, so that a loop that waits for time to pass ends.
 * Random numbers then come from a generator seeded with the turn and the layer, so they are the same in every replay.
 */
import type { Draw, DrawKind, DrawnValues, DrawScope } from '../../trace/draw-scope.ts';
import { sha256 } from '../../json/sha256.ts';

export class ServedDraws implements DrawScope {
  readonly #left = new Map<DrawKind, DrawnValues[DrawKind][]>();
  #now: number;
  #elapsed = 0;
  #state: number;

  /**
   * `now`: the time at the start, in milliseconds since 1970. `seed`: the same in every replay, and different for each
   * layer.
   */
  constructor(drew: readonly Draw[], now: number, seed: string) {
    for (const [kind, value] of drew) this.#left.set(kind, [...(this.#left.get(kind) ?? []), value]);
    this.#now = now;
    this.#state = Number.parseInt(sha256(seed).slice(0, 8), 16);
  }

  draw<Kind extends DrawKind>(kind: Kind, make: () => DrawnValues[Kind]): DrawnValues[Kind] {
    // Safe: the map stores each value under its kind.
    const recorded = this.#left.get(kind)?.shift() as DrawnValues[Kind] | undefined;
    const value = recorded ?? (this.#makeUp(kind, make) as DrawnValues[Kind]);
    if (kind === 'now') this.#now = value as number;
    if (kind === 'elapsed') this.#elapsed = value as number;
    return value;
  }

  #makeUp(kind: DrawKind, make: () => DrawnValues[DrawKind]): DrawnValues[DrawKind] {
    switch (kind) {
      case 'now':
        return this.#now + 1;
      case 'elapsed':
        return this.#elapsed + 1;
      case 'random':
        return this.#random();
      case 'uuid':
        return toUuid(this.#hex(32));
      case 'bytes': {
        // Calls `make`, because only a generated value shows how many bytes are needed.
        const { length } = make() as string;
        return this.#hex(length);
      }
    }
  }

  #hex(digits: number): string {
    return Array.from({ length: digits }, () => Math.floor(this.#random() * 16).toString(16)).join('');
  }

  /** Mulberry32: small, and good enough for values that only have to be reproducible. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

function toUuid(hex: string): string {
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)];
  return parts.join('-');
}
