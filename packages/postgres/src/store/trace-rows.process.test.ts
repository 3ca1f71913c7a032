import { expect, test } from '../testing/with-postgres.ts';
import { durableStore, openStoreReader, type TraceSink } from '@goondan/runtime/history';
import { defaultLimits, type TurnLine } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import type { Database } from '../driver/database.ts';
import { openTestDatabase } from '../testing/test-database.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { openTraceReader } from './trace-reader.ts';
import { openTraceSink } from './trace-sink.ts';

const { database } = await openTestDatabase();
const stateRoot = temporaryFolder();

const noHistory = { history: () => Promise.reject(new Error('not asked for')), pending: async () => [] };
const report = () => undefined;

interface Turn {
  readonly turnId: string;
  readonly agentName?: string;
  readonly traceId?: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly second: number;
}

function linesOf(
  { turnId, agentName = 'host', traceId = 'a'.repeat(32), spanId, parentSpanId, second }: Turn,
  { resumed = false, isUnfinished = false, text = '' } = {},
): TurnLine[] {
  const startedAt = new Date(second * 1000);
  const time = startedAt.toISOString();
  const ids = { turnId, agentName, instanceKey: 'default', traceId, spanId };
  const parent = parentSpanId === undefined ? {} : { parentSpanId };
  const lines: (readonly [isNeeded: boolean, line: object])[] = [
    [
      true,
      {
        type: 'start',
        time,
        ...ids,
        ...parent,
        source: { kind: 'cli', name: 'test' },
        input: `é ${turnId}`,
        ...(resumed && { resumed }),
      },
    ],
    [false, { type: 'dropped', count: 1, text }],
  ];
  const end = { type: 'end', time, durationMs: 5, finishReason: 'text_response', stepCount: 1 };
  if (!isUnfinished) lines.push([true, end]);
  return lines.map(([isNeeded, line]) => ({
    turn: { turnId, traceId, startedAt },
    isNeeded,
    text: () => JSON.stringify(line),
  }));
}

async function append(sink: TraceSink, agentName: string, ...lines: readonly TurnLine[][]): Promise<void> {
  const writer = await sink.open({ agentName, instanceKey: 'default' });
  for (const each of lines) await writer.append(each);
  await writer.close();
}

async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    return GoondanError.is(error) ? { code: error.code, message: error.message } : error;
  }
}

const question = { turnId: 'turn-question', spanId: '1111111111111111', second: 1 };
const asked = { ...question, turnId: 'turn-sent', agentName: 'guest', spanId: '3333333333333333', second: 3 };
const later = { turnId: 'turn-later', spanId: '2222222222222222', traceId: 'b'.repeat(32), second: 2 };
const long = { turnId: `turn-${'x'.repeat(300)}`, spanId: '4444444444444444', traceId: 'c'.repeat(32), second: 0 };

test('S-08 a trace in the store is listed, found and read as one in files', async () => {
  const journal = await durableStore({ stateRoot, workspaceId: 'w' });
  const rows = openTraceSink(database, 'same', { report });
  for (const sink of [{ open: (instance) => journal.openTraces(instance) } satisfies TraceSink, rows]) {
    // The turn moved to another process twice, and then ended.
    await append(sink, 'host', linesOf(question, { isUnfinished: true }), linesOf(later));
    await append(sink, 'host', linesOf({ ...question, second: 8 }, { resumed: true, isUnfinished: true }));
    await append(sink, 'host', linesOf({ ...question, second: 9 }, { resumed: true }));
    await append(sink, 'guest', linesOf({ ...asked, parentSpanId: question.spanId }));
    const [start, text, end] = linesOf(long, { text: 'ü'.repeat(100_000) });
    if (start && text && end) await append(sink, 'host', [start, text], [end]);
  }
  await rows.close();
  const files = openStoreReader({ stateRoot, workspaceId: 'w' }).traces;
  const reader = openTraceReader(database, 'same', noHistory);
  const listed = await reader.list();
  expect(listed.map(({ turnId }) => turnId)).toEqual(['turn-sent', 'turn-later', 'turn-question', long.turnId]);
  expect(listed[2]).toMatchObject({ resumes: 2, finishReason: 'text_response' });
  expect(listed[3]).toMatchObject({ finishReason: 'text_response' });
  expect(listed).toEqual(await files.list());
  for (const options of [{ last: 1 }, { last: 0 }, { agentName: 'guest' }, { agentName: 'gu' }, { instanceKey: 'x' }])
    expect(await reader.list(options)).toEqual(await files.list(options));
  const ids = [undefined, question.turnId, 'question', 'q', 'a', 'aaaa', 'a'.repeat(32), '2222', 'turn-', 'nothing'];
  for (const id of [...ids, long.turnId, long.turnId.slice(0, 250), asked.spanId])
    expect([id, await outcomeOf(reader.read(id))]).toEqual([id, await outcomeOf(files.read(id))]);
  expect(await outcomeOf(openTraceReader(database, 'other', noHistory).read())).toMatchObject({
    code: 'E_TRACE_UNKNOWN',
  });
  await journal.close();
});

test('S-08 a turn whose node was killed is shown without an end, as in files', async () => {
  const journal = await durableStore({ stateRoot, workspaceId: 'killed' });
  const rows = openTraceSink(database, 'killed', { report });
  const killed = { turnId: 'turn-killed', spanId: '5555555555555555', second: 1 };
  for (const sink of [{ open: (instance) => journal.openTraces(instance) } satisfies TraceSink, rows])
    await append(sink, 'host', linesOf(killed, { isUnfinished: true }));
  await rows.close();
  const files = openStoreReader({ stateRoot, workspaceId: 'killed' }).traces;
  const reader = openTraceReader(database, 'killed', noHistory);
  const [listed] = await reader.list();
  expect(listed).toMatchObject({ turnId: killed.turnId });
  expect(listed).not.toHaveProperty('finishReason');
  expect([listed]).toEqual([...(await files.list())]);
  expect(await reader.read(killed.turnId)).toEqual(await files.read(killed.turnId));
  await journal.close();
});

test('lists turns across pages, each once, newest first', async () => {
  const sink = openTraceSink(database, 'pages', { report });
  const seconds = Array.from({ length: 130 }, (_, second) => second);
  await Promise.all(
    seconds.map((second) => append(sink, 'host', linesOf({ turnId: `t${second}`, spanId: `s${second}`, second }))),
  );
  await sink.close();
  const turns = await openTraceReader(database, 'pages', noHistory).list({ last: 1000 });
  expect(turns.map(({ turnId }) => turnId)).toEqual(seconds.toReversed().map((second) => `t${second}`));
});

test('many instances share a statement, a turn is cut at its limit, and the oldest turns are removed', async () => {
  let statements = 0;
  const counted: Database = {
    ...database,
    query: (...asking) => {
      if (asking[0].includes('insert')) statements += 1;
      return database.query(...asking);
    },
  };
  const limits = { ...defaultLimits.traces, bytes: 32_000, files: 2, turnBytes: 10_000 };
  const sink = openTraceSink(counted, 'limits', { report, limits });
  await Promise.all(
    Array.from({ length: 20 }, (_, second) =>
      append(sink, 'host', linesOf({ turnId: `short-${second}`, spanId: `s${second}`, second })),
    ),
  );
  expect(statements).toBe(1);
  for (let second = 100; second < 120; second += 1) {
    const turn = { turnId: `long-${second}`, spanId: `l${second}`, second };
    await append(sink, 'host', [
      ...linesOf(turn, { text: 'x'.repeat(10_001), isUnfinished: true }),
      ...linesOf(turn, { text: 'left out' }).slice(1),
    ]);
  }
  await sink.close();
  const reader = openTraceReader(database, 'limits', noHistory);
  const turns = (await reader.list({ last: 100 })).map(({ turnId }) => turnId);
  expect(turns).toEqual(['long-119', 'long-118', 'long-117', 'long-116', 'long-115', 'long-114']);
  const [cut] = (await reader.read('long-119')).turns;
  expect(cut).toMatchObject({ finishReason: 'text_response', missing: { isCut: true } });
  const [rows] = await database.query<{ count: number }>(
    `select count(distinct turn) as count from gdn_trace_chunk where swarm = 'limits'`,
  );
  expect(rows?.count).toBe(6);
});

test('a write that fails is told to its callers, and the next one goes on', async () => {
  let isAway = true;
  const broken: Database = {
    ...database,
    query: (...asking) => (isAway ? Promise.reject(new Error('away')) : database.query(...asking)),
  };
  const sink = openTraceSink(broken, 'broken', { report });
  const [first, second] = await Promise.all([
    outcomeOf(append(sink, 'host', linesOf(question))),
    outcomeOf(append(sink, 'guest', linesOf(asked))),
  ]);
  expect([String(first), String(second)]).toEqual(['Error: away', 'Error: away']);
  isAway = false;
  await append(sink, 'host', linesOf(later));
  const turns = await openTraceReader(database, 'broken', noHistory).list();
  expect(turns.map(({ turnId }) => turnId)).toEqual(['turn-later']);
});
