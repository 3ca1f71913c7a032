import { describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MiddlewareKind } from '@goondan/types';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { madeRecord } from '../../testing/made-trace.ts';
import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import type { TraceLine } from '../../trace/trace-lines.ts';
import type { ChainRecord } from '../../trace/turn-trace.ts';
import { RecordLogs } from '../journal/record-logs.ts';
import { instanceFolderName, tracesFolder, workspaceFolder } from '../layout/instance-paths.ts';
import { defaultLimits } from '../limits.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { listTurns, readTurnTrace } from './read-turn-trace.ts';
import { numberedPath } from '../lines/shared-log.ts';
import { blockTag, encodeHeader, lineStart } from './trace-blocks.ts';
import { TRACES } from './trace-index.ts';
import { traceName } from './trace-names.ts';

const temporary = temporaryFolder();

interface Written {
  readonly turnId: string;
  readonly agentName?: string;
  readonly traceId?: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly second: number;
  /** The trace lines between the start and the end of the turn. Default: the lines of an empty turn chain. */
  readonly lines?: readonly TraceLine[];
  readonly isUnfinished?: boolean;
  readonly took?: readonly string[];
}

const chain = (kind: MiddlewareKind, more: Partial<ChainRecord> = {}) =>
  madeRecord(kind, kind, { totalMs: 1, ...more });

const person = { kind: 'cli', name: 'gdn' } as const;

function write(...turns: Written[]) {
  const stateRoot = mkdtempSync(join(temporary, 'root-'));
  const folder = tracesFolder(workspaceFolder(stateRoot, 'w'));
  let text = '';
  for (const turn of turns) {
    const { turnId, agentName = 'host', traceId = 'a'.repeat(32), spanId, parentSpanId, second, lines } = turn;
    const startedAt = new Date(second * 1_000);
    const time = startedAt.toISOString();
    const ids = { turnId, agentName, instanceKey: 'default', traceId, spanId };
    const parent = parentSpanId === undefined ? {} : { parentSpanId };
    const source = parentSpanId === undefined ? person : ({ kind: 'agent', name: 'host' } as const);
    const written: TraceLine[] = [
      { type: 'start', time, source, ...ids, ...parent, input: `input of ${turnId}` },
      ...(lines ?? [{ type: 'chain', n: 0, chain: chain('turn', { spanId }) }]),
    ];
    const end = { type: 'end', time, durationMs: 5, finishReason: 'text_response', stepCount: 1 } as const;
    const { took } = turn;
    if (turn.isUnfinished !== true) written.push({ ...end, ...(took && { took }) });
    const name = traceName({ turnId, traceId, startedAt });
    const instance = instanceFolderName(agentName, 'default');
    const tag = blockTag(name, instance);
    text += encodeHeader(tag, name, instance);
    for (const line of written) text += `${lineStart(tag)}${JSON.stringify(line)}}\n`;
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(numberedPath(folder, TRACES, 1), text);
  return { stateRoot, workspaceId: 'w' };
}

const address = { agentName: 'host', instanceKey: 'default' };
const uuid = '1f3a9c2b-0000-4000-8000-000000000000';
const other = '2e4b9c2b-0000-4000-8000-000000000000';

describe('the latest turn', () => {
  const question = { turnId: 'turn-question', spanId: '1111111111111111', traceId: 'a'.repeat(32), second: 1 };
  const later = { turnId: 'turn-later', spanId: '2222222222222222', traceId: 'b'.repeat(32), second: 2 };
  // The first turn requested this turn, which ran after the second turn.
  const sent = { ...question, turnId: 'turn-sent', agentName: 'guest', spanId: '3333333333333333', second: 3 };

  test('is the latest that no other agent requested', async () => {
    const place = write(question, later, { ...sent, parentSpanId: question.spanId });
    expect((await readTurnTrace(place)).turns.map(({ turnId }) => turnId)).toEqual(['turn-later']);
  });

  test('is the latest of all when other agents requested every kept turn', async () => {
    const place = write({ ...sent, parentSpanId: question.spanId });
    expect((await readTurnTrace(place)).turns.map(({ turnId }) => turnId)).toEqual(['turn-sent']);
  });

  test('is E_TRACE_UNKNOWN in a workspace without turns', async () => {
    expect(await rejectionOf(readTurnTrace(write()))).toMatchObject({
      code: 'E_TRACE_UNKNOWN',
      message: 'There are no recorded turns.',
      suggestion: expect.stringContaining('GOONDAN_TRACE'),
    });
  });
});

describe('readTurnTrace', () => {
  const place = write(
    { turnId: `turn-event-${uuid}`, spanId: '1111111111111111', second: 1 },
    { turnId: `turn-event-${other}`, spanId: '2222222222222222', traceId: 'b'.repeat(32), second: 2 },
    { turnId: 'turn-mine: no. 7', spanId: '3333333333333333', traceId: 'my own trace', second: 3 },
    { turnId: `turn-event-${uuid}~retry`, spanId: '6666666666666666', second: 3 },
    { turnId: 'turn-same', spanId: '4444444444444444', traceId: 'c'.repeat(32), second: 4 },
    { turnId: 'turn-same', agentName: 'guest', spanId: '5555555555555555', traceId: 'c'.repeat(32), second: 4 },
  );

  test.each([
    [`turn-event-${uuid}`, ['1111111111111111']],
    [`event-${uuid}`, ['1111111111111111']],
    [uuid, ['1111111111111111']],
    ['turn-event-1f', ['1111111111111111']],
    ['1f3a9c2b', ['1111111111111111']],
    ['1f3a9c2b~retry', ['6666666666666666']],
    [`${uuid}~retry`, ['6666666666666666']],
    [`${uuid.slice(0, -1)}~retry`, ['6666666666666666']],
    ['2e4b', ['2222222222222222']],
    ['b'.repeat(32), ['2222222222222222']],
    ['bbb', ['2222222222222222']],
    ['turn-mine: no. 7', ['3333333333333333']],
    ['mine: no', ['3333333333333333']],
    ['my own trace', ['3333333333333333']],
    ['333', ['3333333333333333']],
    ['c'.repeat(32), ['4444444444444444', '5555555555555555']],
    ['5555555555555555', ['5555555555555555']],
  ])('%p is found', async (id, spans) => {
    const { turns } = await readTurnTrace(place, id);
    expect(turns.map(({ spanId }) => spanId).toSorted()).toEqual(spans);
  });

  test('rejects an ambiguous id, with the candidates', async () => {
    const refused = await rejectionOf(readTurnTrace(place, 'turn-same'));
    expect(refused).toMatchObject({ code: 'E_TRACE_AMBIGUOUS' });
    expect(String(refused)).toContain('4444444444444444 (host default, 1970-01-01T00:00:04.000Z)');
    const events = await rejectionOf(readTurnTrace(place, 'turn-event-'));
    expect(events).toMatchObject({ code: 'E_TRACE_AMBIGUOUS' });
    expect(String(events)).toContain(`2e4b9c2b (host default, 1970-01-01T00:00:02.000Z), 1f3a9c2b (`);
    // A typed span id gets span ids as an answer.
    const alike = write(
      { turnId: 'turn-one', spanId: 'ab11111111111111', second: 1 },
      { turnId: 'turn-two', spanId: 'ab22222222222222', second: 2 },
    );
    const spans = String(await rejectionOf(readTurnTrace(alike, 'ab')));
    expect(spans).toContain('ab11111111111111 (');
    expect(spans).toContain('ab22222222222222 (');
  });

  test.each(['turn-nothing', 'x'.repeat(10_000), '../../etc', '\0', '~'])('%p is unknown', async (id) => {
    expect(await rejectionOf(readTurnTrace(place, id))).toMatchObject({ code: 'E_TRACE_UNKNOWN' });
  });

  test('a missing workspace has no traces', async () => {
    const nowhere = { ...place, workspaceId: 'nowhere' };
    expect(await listTurns(nowhere)).toEqual([]);
    expect(await rejectionOf(readTurnTrace(nowhere, 'x'))).toMatchObject({ code: 'E_TRACE_UNKNOWN' });
  });

  test('turns of called agents are shown inside the calling chain, whichever turn is asked for', async () => {
    const toolCall = chain('toolCall', { spanId: 'aaaaaaaaaaaaaaaa', isUnfinished: true });
    const calling = write(
      {
        turnId: 'turn-1',
        spanId: '1111111111111111',
        second: 1,
        lines: [
          { type: 'chain', n: 0, chain: chain('turn', { spanId: '1111111111111111' }) },
          { type: 'chain', n: 1, parent: 0, chain: chain('step', { spanId: 'bbbbbbbbbbbbbbbb' }) },
          { type: 'chain', n: 2, parent: 1, chain: toolCall },
        ],
        isUnfinished: true,
      },
      { turnId: 'turn-2', agentName: 'b', spanId: '2222222222222222', parentSpanId: 'aaaaaaaaaaaaaaaa', second: 2 },
      { turnId: 'turn-3', agentName: 'c', spanId: '3333333333333333', parentSpanId: '2222222222222222', second: 3 },
      { turnId: 'turn-4', agentName: 'd', spanId: '4444444444444444', parentSpanId: 'bbbbbbbbbbbbbbbb', second: 4 },
      { turnId: 'turn-5', agentName: 'e', spanId: '5555555555555555', parentSpanId: '9999999999999999', second: 5 },
    );
    const whole = await readTurnTrace(calling, 'a'.repeat(32));
    expect(whole.turns.map(({ turnId }) => turnId)).toEqual(['turn-1', 'turn-5']);
    const step = whole.turns[0]?.chain.inside[0];
    expect(step?.called.map(({ turnId }) => turnId)).toEqual(['turn-4']);
    const called = step?.inside[0]?.called;
    expect(called?.map(({ turnId }) => turnId)).toEqual(['turn-2']);
    expect(called?.[0]?.chain.called.map(({ turnId }) => turnId)).toEqual(['turn-3']);
    expect(whole.turns[0]).not.toHaveProperty('finishReason');
    const inner = await readTurnTrace(calling, 'turn-2');
    expect(inner.turns).toMatchObject([
      { turnId: 'turn-2', parentSpanId: 'aaaaaaaaaaaaaaaa', chain: { called: [{ turnId: 'turn-3' }] } },
    ]);
  });

  test('turns that name each other as parent are both shown', async () => {
    const circle = write(
      { turnId: 'turn-1', spanId: '1111111111111111', parentSpanId: '2222222222222222', second: 1 },
      { turnId: 'turn-2', spanId: '2222222222222222', parentSpanId: '1111111111111111', second: 2 },
    );
    const { turns } = await readTurnTrace(circle, 'a'.repeat(32));
    expect(turns.map(({ turnId }) => turnId)).toEqual(['turn-1', 'turn-2']);
  });
});

describe('turns in several files', () => {
  test('are found by the beginning of an id, listed, and read', async () => {
    const place = write({ turnId: `turn-event-${other}`, spanId: '2222222222222222', second: 1 });
    const limits = { ...defaultLimits, traces: { bytes: 100_000, files: 16, turnBytes: 100_000 } };
    const logs = new RecordLogs({ fs: systemFs, clock: systemClock }, workspaceFolder(place.stateRoot, 'w'), limits);
    const files = await logs.openTraces(address);
    for (let second = 2; second < 8; second += 1) {
      const turn = {
        turnId: `turn-event-${second}${uuid}`,
        traceId: 'b'.repeat(32),
        startedAt: new Date(second * 1_000),
      };
      const { startedAt, ...ids } = turn;
      const spanId = `${second}`.repeat(16);
      const lines: TraceLine[] = [
        {
          type: 'start',
          time: startedAt.toISOString(),
          source: person,
          ...ids,
          ...address,
          spanId,
          input: `no. ${second}`,
        },
        { type: 'chain', n: 0, chain: chain('turn', { spanId, input: 'x'.repeat(40_000) }) },
        { type: 'end', time: startedAt.toISOString(), durationMs: 5, finishReason: 'text_response', stepCount: 1 },
      ];
      await files.append(lines.map((line) => ({ turn, isNeeded: true, text: () => JSON.stringify(line) })));
    }
    await files.close();
    const listed = (await listTurns(place)).map(({ input, finishReason }) => `${input} ${finishReason}`);
    expect(listed.slice(0, 6)).toEqual(['7', '6', '5', '4', '3', '2'].map((no) => `no. ${no} text_response`));
    expect(listed).toHaveLength(7);
    expect((await readTurnTrace(place)).turns).toMatchObject([{ spanId: '7'.repeat(16) }]);
    expect((await readTurnTrace(place, `4${uuid.slice(0, 6)}`)).turns).toMatchObject([
      { spanId: '4'.repeat(16), chain: { kind: 'turn' } },
    ]);
    expect((await readTurnTrace(place, other.slice(0, 8))).turns).toMatchObject([{ spanId: '2222222222222222' }]);
    expect((await readTurnTrace(place, 'bbb')).turns).toHaveLength(6);
    expect(await rejectionOf(readTurnTrace(place, '9'))).toMatchObject({ code: 'E_TRACE_UNKNOWN' });
  });
});

describe('listTurns', () => {
  test('lists the newest turns first, up to the limit, optionally of one agent', async () => {
    const turns = Array.from({ length: 30 }, (_, index) => ({
      turnId: `turn-${index}`,
      agentName: index % 2 === 0 ? 'host' : 'guest',
      spanId: String(index).padStart(16, '1'),
      second: index,
      isUnfinished: index === 29,
    }));
    const place = write(...turns);
    const latest = await listTurns(place);
    expect(latest.map(({ turnId }) => turnId)).toEqual(Array.from({ length: 20 }, (_, index) => `turn-${29 - index}`));
    expect(latest[0]).not.toHaveProperty('finishReason');
    expect(latest[1]).toMatchObject({ input: 'input of turn-28', durationMs: 5, finishReason: 'text_response' });
    const guests = await listTurns(place, { last: 2, agentName: 'guest' });
    expect(guests.map(({ turnId }) => turnId)).toEqual(['turn-29', 'turn-27']);
    expect(await listTurns(place, { instanceKey: 'another' })).toEqual([]);
  });
});

test('Y-08 the id of an input that a turn took while it ran finds that turn, also while it runs', async () => {
  const step = chain('step', {
    took: [{ eventId: `event-${uuid}`, source: { kind: 'cli', name: 'gdn' }, input: 'x' }],
  });
  const lines: TraceLine[] = [{ type: 'chain', n: 0, chain: chain('turn', { spanId: '2222222222222222' }) }];
  const place = write(
    {
      turnId: 'turn-ended',
      spanId: '1111111111111111',
      traceId: 'b'.repeat(32),
      second: 1,
      took: ['event-x', `event-${other}`],
    },
    {
      ...{ turnId: 'turn-running', spanId: '2222222222222222', second: 2, isUnfinished: true },
      lines: [...lines, { type: 'chain', n: 1, parent: 0, chain: step }],
    },
  );
  const found = async (id: string) => {
    const { turns, took } = await readTurnTrace(place, id);
    return [turns.map(({ turnId }) => turnId), took];
  };
  expect(await found('2e4b9c2b')).toEqual([['turn-ended'], `event-${other}`]);
  expect(await found('1f3a9c2b')).toEqual([['turn-running'], `event-${uuid}`]);
  expect(await found('turn-ended')).toEqual([['turn-ended'], undefined]);
});

test('Y-08 the id of an input that two turns took, one of which was dropped, finds the newest of them', async () => {
  const took = [`event-${uuid}`];
  const place = write(
    { turnId: 'turn-dropped', spanId: '1111111111111111', traceId: 'b'.repeat(32), second: 1, took },
    { turnId: 'turn-newest', spanId: '2222222222222222', traceId: 'c'.repeat(32), second: 2, took },
  );
  expect((await readTurnTrace(place, '1f3a9c2b')).turns.map(({ turnId }) => turnId)).toEqual(['turn-newest']);
});
