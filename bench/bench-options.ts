/** Reads the arguments of `npm run bench`. */
export interface BenchOptions {
  /** Sections to run, in the order of the run. `targets` stands for the sections that the table of targets needs. */
  readonly sections: readonly string[];
  /** The number of times that each section runs. The table of targets has the medians. */
  readonly runs: number;
  /** Numbers of conversations with a process each. */
  readonly conversations: readonly number[];
  /** Numbers of conversations that share a process. */
  readonly shared: readonly number[];
}

export const usage = `Usage: npm run bench -- [SECTION…] [--runs N] [--conversations N,…] [--shared N,…]`;

/** `needed`: the sections that the table of targets needs. **Errors** — an unknown section, option or number. */
export function readBenchOptions(
  args: readonly string[],
  known: readonly string[],
  needed: readonly string[],
): BenchOptions {
  const named = new Set<string>();
  const values = new Map<string, string>();
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? '';
    if (!arg.startsWith('--')) {
      if (arg !== 'targets' && !known.includes(arg)) throw new Error(unknown('section', arg, ['targets', ...known]));
      for (const section of arg === 'targets' ? needed : [arg]) named.add(section);
      continue;
    }
    if (!options.includes(arg)) throw new Error(unknown('option', arg, options));
    values.set(arg, args[++index] ?? '');
  }
  return {
    sections: known.filter((section) => named.size === 0 || named.has(section)),
    runs: readNumbers(values, '--runs', [1])[0] ?? 1,
    conversations: readNumbers(values, '--conversations', [1_000]),
    shared: readNumbers(values, '--shared', [1_000, 10_000]),
  };
}

const options = ['--runs', '--conversations', '--shared'];

function readNumbers(values: ReadonlyMap<string, string>, name: string, absent: readonly number[]): readonly number[] {
  const text = values.get(name);
  if (text === undefined) return absent;
  const numbers = text.split(',').map(Number);
  if (numbers.every((number) => Number.isInteger(number) && number > 0)) return numbers;
  throw new Error(`${name} needs whole numbers above 0, and got "${text}".\n${usage}`);
}

function unknown(what: string, given: string, expected: readonly string[]): string {
  return `There is no ${what} "${given}"; there are ${expected.join(', ')}.\n${usage}`;
}
