/** The results of mutants: the committed file, the table for people, and what must not become worse. */

/** Killed, survived, timed out, or not reached by any test. */
export type Letter = 'k' | 's' | 't' | 'n';

export interface Result {
  readonly letter: Letter;
  /** Why it is accepted that the mutant survives. */
  readonly reason?: string;
}

/** Results by the id of their mutant. */
export type Results = ReadonlyMap<string, Result>;

const heading =
  '# `npm run mutants -- --write` writes this file: ID, k killed, s survived, t timed out, n not reached.\n';
/** The part of new mutants that tests must kill. */
const LEAST_KILLED = 0.85;

export function parseResults(text: string): Map<string, Result> {
  const lines = [...text.matchAll(/^([\da-f]{10}) ([kstn])(?: (.+))?$/gm)];
  // Safe: the pattern allows only these letters.
  return new Map(
    lines.map(([, id = '', letter, reason]) => [id, { letter: letter as Letter, ...(reason ? { reason } : {}) }]),
  );
}

export function renderResults(results: Results): string {
  const lines = [...results].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return heading + lines.map(([id, { letter, reason }]) => `${[id, letter, reason ?? ''].join(' ').trim()}\n`).join('');
}

export interface Comparison {
  /** Mutants that were killed and are not killed now. */
  readonly lost: readonly string[];
  /** New mutants that survive without a reason. */
  readonly unexplained: readonly string[];
  /** The part of the new mutants that is killed, when that is too little. */
  readonly tooFew?: number;
}

/** Compares the results of a run with those before it. A mutant is new if it has no result before. */
export function compareResults(before: Results, now: Results): Comparison {
  const isKilled = ({ letter }: Result) => letter === 'k' || letter === 't';
  const lost = [...now].filter(([id, result]) => {
    const old = before.get(id);
    return old !== undefined && isKilled(old) && !isKilled(result);
  });
  const reached = [...now].filter(([id, { letter }]) => !before.has(id) && letter !== 'n');
  const killed = reached.filter(([, result]) => isKilled(result)).length / Math.max(1, reached.length);
  return {
    lost: lost.map(([id]) => id),
    unexplained: reached.flatMap(([id, result]) => (isKilled(result) || result.reason !== undefined ? [] : [id])),
    ...(reached.length > 0 && killed < LEAST_KILLED ? { tooFew: killed } : {}),
  };
}

/** Renders the number of each result, in a row for each name and one for all. */
export function renderTable(named: readonly (readonly [name: string, letter: Letter])[]): string {
  const rows = [...Map.groupBy(named, ([name]) => name)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const lines = [...rows, ['all', named] as const].map(([name, results]) => {
    const count = (letter: Letter) => results.filter(([, each]) => each === letter).length;
    const reached = results.length - count('n');
    const caught = reached === 0 ? '' : `${((100 * (reached - count('s'))) / reached).toFixed(1)} %`;
    return [name, results.length, count('k'), count('s'), count('t'), count('n'), caught];
  });
  const columns = ['', 'mutants', 'killed', 'survived', 'timed out', 'not reached', 'caught'];
  return [columns, ...lines]
    .map(([name = '', ...cells]) => String(name).padEnd(12) + cells.map((cell) => String(cell).padStart(12)).join(''))
    .join('\n');
}
