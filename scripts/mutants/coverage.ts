/**
 * The lines of modules that each test file executes in its own process. They are measured once and kept in a folder until
 * the test file or the module changes.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The measured test, and for each module that it loads: the module's hash and the executed lines, such as `3-5,9-9`. */
interface KeptCoverage {
  readonly test: string;
  readonly modules: Readonly<Record<string, readonly [hash: string, lines: string]>>;
}

export class Coverage {
  readonly #folder: string;
  readonly #hashOf: (path: string) => string;
  readonly #tests = new Map<string, KeptCoverage | undefined>();

  /** `hashOf` returns the hash of a file of the repository. */
  constructor(folder: string, hashOf: (path: string) => string) {
    this.#folder = folder;
    this.#hashOf = hashOf;
    mkdirSync(folder, { recursive: true });
  }

  /** Tells whether the test was measured with the present text of the test and the module. */
  isKnown(test: string, module: string): boolean {
    const kept = this.#read(test);
    if (kept?.test !== this.#hashOf(test)) return false;
    const [hash] = kept.modules[module] ?? [];
    return hash === undefined || hash === this.#hashOf(module);
  }

  /** Returns undefined when the process of the test does not load the module; another process may do so. */
  executes(test: string, module: string, line: number): boolean | undefined {
    const [, lines] = this.#read(test)?.modules[module] ?? [];
    return lines?.split(',').some((range) => {
      const [first = 0, last = 0] = range.split('-').map(Number);
      return first <= line && line <= last;
    });
  }

  /** Keeps the coverage of a test, as Bun writes it (lcov). */
  keep(test: string, lcov: string): void {
    const modules: Record<string, [string, string]> = {};
    for (const record of lcov.split('end_of_record')) {
      const [, path = ''] = /^SF:(packages\/.*)$/m.exec(record) ?? [];
      if (path === '' || path.includes('.test.')) continue;
      const counts = [...record.matchAll(/^DA:(\d+),(\d+)/gm)];
      modules[path] = [this.#hashOf(path), joinLines(counts.map(([, line, count]) => [Number(line), Number(count)]))];
    }
    const kept = { test: this.#hashOf(test), modules };
    this.#tests.set(test, kept);
    writeFileSync(this.#fileOf(test), JSON.stringify(kept));
  }

  #read(test: string): KeptCoverage | undefined {
    return this.#tests.getOrInsertComputed(test, () => {
      try {
        return JSON.parse(readFileSync(this.#fileOf(test), 'utf8'));
      } catch {
        // Nothing is kept yet.
        return undefined;
      }
    });
  }

  #fileOf(test: string): string {
    return join(this.#folder, `${hashText(test)}.json`);
  }
}

/**
 * Joins the executed lines. Bun has a count only for lines where something begins; the lines below belong to it.
 */
export function joinLines(counts: readonly (readonly [line: number, count: number])[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const [index, [line, count]] of counts.entries()) {
    if (count === 0) continue;
    const last = (counts[index + 1]?.[0] ?? LAST_LINE) - 1;
    const range = ranges.at(-1);
    if (range?.last === line - 1) range.last = last;
    else ranges.push({ first: index === 0 ? 1 : line, last });
  }
  return ranges.map(({ first, last }) => `${first}-${last}`).join(',');
}

const LAST_LINE = 100_000;

export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}
