import { expect, test } from '../testing/with-postgres.ts';
import type { LogLine } from '@goondan/runtime';
import type { Database } from '../driver/database.ts';
import { countStatements } from '../testing/count-statements.ts';
import { openTestDatabase } from '../testing/test-database.ts';
import { openLogReader } from './log-reader.ts';
import { openLogSink } from './log-sink.ts';
import { until } from '../../../../test/until.ts';

const { database } = await openTestDatabase();

const line = (second: number, more: Partial<LogLine> = {}): LogLine => ({
  time: new Date(second * 1000).toISOString(),
  level: 'info',
  message: `ü ${second}`,
  ...more,
});
const seconds = (lines: readonly LogLine[]) => lines.map(({ time }) => Date.parse(time) / 1000);

test('S-08 the log lines of all nodes are merged in the order of their times', async () => {
  const report = () => undefined;
  const expected: number[] = [];
  // Each chunk of a node overlaps with chunks of the others.
  for (let chunk = 0; chunk < 12; chunk += 1) {
    const sinks = ['one', 'two', 'three'].map((node) => openLogSink(database, 'merged', node, { report }));
    for (const [index, sink] of sinks.entries()) {
      for (let each = 0; each < 5; each += 1) {
        const second = chunk * 10 + each * 7 + index;
        expected.push(second);
        sink.write(line(second, { agent: index === 0 ? 'coder' : 'writer', ...(each === 0 && { traceId: 't' }) }));
      }
    }
    await Promise.all(sinks.map((sink) => sink.close()));
  }
  expected.sort((one, other) => one - other);
  const reader = openLogReader(database, 'merged');
  expect(seconds(await reader.read({ last: 1000 }))).toEqual(expected);
  for (const last of [0, 1, 2, 7, 40, 41, 42, 100, 179, 180])
    expect(seconds(await reader.read({ last }))).toEqual(last === 0 ? [] : expected.slice(-last));
  const all = await reader.read({ last: 1000, agent: 'coder' });
  expect(all.length).toBe(60);
  expect(new Set(all.map(({ node }) => node))).toEqual(new Set(['one']));
  expect(seconds(await reader.read({ last: 3, traceId: 't', where: ({ node }) => node === 'two' }))).toEqual([
    91, 101, 111,
  ]);
  expect(await openLogReader(database, 'other').read({ last: 5 })).toEqual([]);
});

test('lines of the same moment keep their order, and a clock that is set back does not hide lines', async () => {
  const sink = openLogSink(database, 'clock', 'one', { report: () => undefined });
  for (let index = 0; index < 50; index += 1) sink.write(line(5, { message: `${index}` }));
  sink.write(line(900));
  sink.write(line(1));
  await sink.close();
  const lines = await openLogReader(database, 'clock').read({ last: 51 });
  expect(lines.map(({ message }) => message)).toEqual([...Array.from({ length: 50 }, (_, at) => `${at}`), 'ü 900']);
});

test('lines are gathered, and the oldest are removed', async () => {
  const counted = countStatements(database);
  const sink = openLogSink(counted, 'bounded', 'one', { report: () => undefined, most: 200_000 });
  for (let second = 0; second < 100; second += 1) sink.write(line(second));
  await Bun.sleep(1);
  sink.write(line(100));
  await sink.close();
  expect(counted.take().filter((statement) => statement.includes('insert'))).toHaveLength(1);
  for (let round = 1; round <= 10; round += 1) {
    const next = openLogSink(counted, 'bounded', 'one', { report: () => undefined, most: 200_000 });
    for (let each = 0; each < 5; each += 1)
      next.write(line(1000 * round + each, { message: 'x'.repeat(10_000), data: round }));
    await next.close();
  }
  const kept = await openLogReader(database, 'bounded').read({ last: 1000 });
  expect(kept.map(({ data }) => data)).toEqual([8, 9, 10].flatMap((round) => Array.from({ length: 5 }, () => round)));
});

test('while the database is away, lines wait up to the limit, and the loss is reported once and counted', async () => {
  let isAway = true;
  const away: Database = {
    ...database,
    query: (...question) => (isAway ? Promise.reject(new Error('away')) : database.query(...question)),
  };
  const problems: string[] = [];
  const sink = openLogSink(away, 'away', 'one', { report: (problem) => problems.push(problem) });
  sink.write(line(1));
  await until(() => problems.length !== 0);
  isAway = false;
  sink.write(line(2));
  await sink.close();
  const lines = await openLogReader(database, 'away').read({ last: 10 });
  expect(lines.find(({ event }) => event === 'log.dropped')).toMatchObject({ data: { lines: 1 } });
  expect(lines.some(({ message }) => message === 'ü 2')).toBe(true);
  expect(problems).toEqual(['the log in the database cannot be written: Error: away']);
});
