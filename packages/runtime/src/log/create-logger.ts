/**
 * The logger of bundle code (`api.logger`, `ctx.logger`): the Console methods, which write log lines. The logger is not
 * built on `node:console`, because importing that module costs every process several milliseconds.
 */
import type { LogLevel } from '../ports/log-line.ts';

/** The maximum number of names for `time`, and for `count`. When there are more, the oldest name is forgotten. */
const MOST_NAMES = 1_000;

/** Makes a logger. `write` receives its lines. */
export function createLogger(write: (level: LogLevel, message: string) => void, elapsed: () => number): Console {
  const timers = new Map<string, number>();
  const counters = new Map<string, number>();
  let depth = 0;

  const line =
    (level: LogLevel) =>
    (...args: unknown[]) =>
      write(level, '  '.repeat(depth) + process.getBuiltinModule('node:util').format(...args));
  const info = line('info');
  const warn = line('warn');
  const debug = line('debug');

  const sayTime = (label: string, rest: unknown[]) => {
    const startedAt = timers.get(label);
    if (startedAt === undefined) return warn(`Timer "${label}" does not exist`);
    info(`${label}: ${(elapsed() - startedAt).toFixed(3)}ms`, ...rest);
  };
  const group = (...labels: unknown[]) => {
    if (labels.length > 0) info(...labels);
    depth = Math.min(depth + 1, 20);
  };

  const methods: Partial<Console> = {
    log: info,
    info,
    debug,
    warn,
    error: line('error'),
    trace: (...args) => debug(...args, new Error('trace').stack ?? ''),
    dir: (value) => info(value),
    dirxml: (...values) => info(...values),
    table: (rows) => info(typeof rows === 'object' && rows !== null ? Bun.inspect.table(rows) : rows),
    assert: (condition, ...args) => {
      if (!condition) line('error')('Assertion failed', ...args);
    },
    clear: () => undefined,
    group,
    groupCollapsed: group,
    groupEnd: () => {
      depth = Math.max(depth - 1, 0);
    },
    time: (label = 'default') => remember(timers, label, elapsed()),
    timeLog: (label = 'default', ...args) => sayTime(label, args),
    timeEnd: (label = 'default') => {
      sayTime(label, []);
      timers.delete(label);
    },
    count: (label = 'default') => {
      remember(counters, label, (counters.get(label) ?? 0) + 1);
      info(`${label}: ${counters.get(label)}`);
    },
    countReset: (label = 'default') => void counters.delete(label),
    // These methods need an inspector, which a child process does not have.
    profile: () => undefined,
    profileEnd: () => undefined,
    timeStamp: () => undefined,
  };
  // Safe: every method of the Console standard is above; Bun's type adds further members (write, Console, …).
  return Object.freeze(methods) as Console;
}

function remember(names: Map<string, number>, name: string, value: number): void {
  names.set(name, value);
  const [oldest] = names.keys();
  if (oldest !== undefined && names.size > MOST_NAMES) names.delete(oldest);
}
