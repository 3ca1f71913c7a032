/**
 * Ends the processes that exited children left behind. A scan reads the environment of every process of the machine, so
 * the children that exit at about the same time share a scan: at most two scans begin within 100 ms. The first exit is
 * scanned at once, the exits during that scan share the second, and later ones wait.
 */
import type { Clock } from '../../ports/clock.ts';
import { killTagged } from './kill-tagged.ts';
import type { ProcessTag } from './process-tag.ts';
import { findTags } from './read-processes.ts';

const PERIOD_MS = 100;

export interface SweepDeps {
  readonly clock: Clock;
  /** Returns the tags that a living process carries; reads /proc once. */
  readonly findTags?: (tags: ReadonlySet<ProcessTag>) => Promise<ReadonlySet<ProcessTag>>;
  /** Ends the processes with this tag. Returns their number. */
  readonly endTagged?: (tag: ProcessTag) => Promise<number>;
}

export class ExitSweep {
  readonly #deps: Required<SweepDeps>;
  #waiting: { readonly tag: ProcessTag; readonly ended: PromiseWithResolvers<number> }[] = [];
  /** The starts of the last two scans, the older one first. */
  #starts: readonly [number, number] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  #isPlanned = false;

  constructor(deps: SweepDeps) {
    const endTagged = async (tag: ProcessTag) => (await killTagged(tag, 0, deps.clock)).ended.length;
    this.#deps = { findTags, endTagged, ...deps };
  }

  /** Call it when the child with this tag has exited. Resolves with the number of processes that it had left behind. */
  endRest(tag: ProcessTag): Promise<number> {
    const ended = Promise.withResolvers<number>();
    this.#waiting.push({ tag, ended });
    this.#plan();
    return ended.promise;
  }

  #plan(): void {
    if (this.#isPlanned || this.#waiting.length === 0) return;
    this.#isPlanned = true;
    const { clock } = this.#deps;
    const waitMs = this.#starts[0] + PERIOD_MS - clock.elapsed();
    if (waitMs <= 0) void this.#scan();
    else clock.after(waitMs, () => void this.#scan());
  }

  async #scan(): Promise<void> {
    const { clock, findTags: find, endTagged } = this.#deps;
    this.#starts = [this.#starts[1], clock.elapsed()];
    // Exits of one moment share the scan.
    await Promise.resolve();
    const exited = this.#waiting.splice(0);
    try {
      const inUse = await find(new Set(exited.map(({ tag }) => tag)));
      await Promise.all(exited.map(async ({ tag, ended }) => ended.resolve(inUse.has(tag) ? await endTagged(tag) : 0)));
    } catch (error) {
      for (const { ended } of exited) ended.reject(error);
    }
    this.#isPlanned = false;
    this.#plan();
  }
}
