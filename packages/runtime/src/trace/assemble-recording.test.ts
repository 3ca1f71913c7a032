import { describe, expect, test } from 'bun:test';
import { assembleRecording, type TurnRuns } from './assemble-recording.ts';
import { NO_USAGE } from '../ports/token-usage.ts';
import { madeLayer, madeRecord } from '../testing/made-trace.ts';
import type { LineOf, TraceLine } from './trace-lines.ts';

const start: LineOf<'start'> = {
  type: 'start',
  time: '2026-01-01T00:00:00.000Z',
  turnId: 'turn-1',
  agentName: 'host',
  instanceKey: 'default',
  traceId: 'a'.repeat(32),
  spanId: '1'.repeat(16),
  source: { kind: 'cli', name: 'gdn' },
};
const beginning: LineOf<'beginning'> = {
  type: 'beginning',
  event: {
    id: '1',
    type: 'input',
    instanceKey: 'default',
    source: { kind: 'cli', name: 'gdn' },
    traceId: 'a'.repeat(32),
    createdAt: '2026-01-01T00:00:00.000Z',
  },
  extensions: [{ name: 'guard', digest: 'd' }],
};
const effect: LineOf<'effect'> = {
  type: 'effect',
  key: '0/model',
  kind: 'model',
  asked: {},
  outcome: { ok: true, value: 'hello' },
};
const chain: LineOf<'chain'> = {
  type: 'chain',
  n: 0,
  chain: madeRecord('turn', 'host', { id: 'turn-1', totalMs: 1 }),
};
const end: LineOf<'end'> = {
  type: 'end',
  time: '2026-01-01T00:00:01.000Z',
  durationMs: 1,
  finishReason: 'text_response',
  stepCount: 1,
};
const whole: readonly TraceLine[] = [start, beginning, effect, chain, end];

test('the lines of a turn give its recording', () => {
  const { type: _, ...recorded } = effect;
  expect(assembleRecording(whole)).toMatchObject({
    earlier: [],
    last: {
      startedAt: start.time,
      fromStep: 0,
      recording: {
        turnId: 'turn-1',
        startedAt: start.time,
        event: beginning.event,
        extensions: beginning.extensions,
        chain: { kind: 'turn', layers: [], inside: [] },
        effects: [recorded],
      },
    },
  });
});

describe('a turn in several runs', () => {
  const resumePoint = { events: 2, effects: {}, intents: [], steps: [], nextStep: 3, usage: { usage: NO_USAGE } };
  const again: LineOf<'start'> = { ...start, time: '2026-01-01T01:00:00.000Z', resumed: true };
  const last = [
    again,
    beginning,
    { type: 'resume', point: resumePoint },
    { ...effect, key: '3/model' },
    chain,
    end,
  ] as const;
  const running: LineOf<'chain'> = { ...chain, chain: { ...chain.chain, isUnfinished: true } };

  test('has a recording of each, with nothing of the others', () => {
    const { earlier, last: finished } = assembleRecording([start, beginning, effect, running, ...last]) as TurnRuns;
    expect(earlier).toMatchObject([
      {
        startedAt: start.time,
        fromStep: 0,
        recording: { effects: [{ key: '0/model' }], halt: { how: 'crashed', hasBegun: true, asked: [], place: [] } },
      },
    ]);
    expect(finished).toMatchObject({
      startedAt: again.time,
      fromStep: 3,
      recording: { startedAt: again.time, resumePoint, effects: [{ key: '3/model' }] },
    });
    expect(finished.recording).not.toHaveProperty('halt');
  });

  test('replays the other runs when one lost records', () => {
    const runs = assembleRecording([start, beginning, running, { type: 'dropped', count: 2 }, ...last]) as TurnRuns;
    expect(runs.earlier).toEqual([{ startedAt: start.time, fromStep: 0, problem: '2 records are missing or damaged' }]);
    expect(runs.last.fromStep).toBe(3);
  });
});

test('the recording of a halted run leaves out later records and shows the stage of running parts', () => {
  const layer = madeLayer('guard', { name: 'guard', kind: 'turn' });
  const failed = { outcome: 'failed', error: 'E_CANCELLED: no' } as const;
  const turn = {
    ...chain.chain,
    error: 'E_CANCELLED: no',
    layers: [
      { ...layer, ...failed, changed: [{ path: 'a', after: '1' }], emitted: ['truncate', 'remove x'], emittedAfter: 1 },
      {
        ...layer,
        name: 'in',
        ...failed,
        isBeforeNext: true,
        changed: [{ path: 'b', after: '1' }],
        emitted: ['truncate'],
      },
      { ...layer, name: 'late' },
    ],
  } as const;
  const step: LineOf<'chain'> = {
    type: 'chain',
    n: 1,
    parent: 0,
    chain: { ...chain.chain, kind: 'step', label: '0', id: 's' },
  };
  const halt: LineOf<'halt'> = {
    type: 'halt',
    error: { message: 'no', code: 'E_CANCELLED' },
    begun: 2,
    open: [{ n: 0, stages: ['inside', 'in'] }],
    asked: ['asked'],
  };
  const after: readonly TraceLine[] = [
    { ...effect, key: 'asked' },
    { ...effect, key: 'after' },
    { ...step, n: 2, chain: { ...step.chain, id: 'after' } },
    { ...chain, chain: turn },
    { ...end, finishReason: 'error', error: 'E_CANCELLED: no' },
  ];
  const recorded = assembleRecording([start, beginning, effect, step, halt, ...after]) as TurnRuns;
  const { recording } = recorded.last;
  expect(recording.effects.map(({ key }) => key)).toEqual(['0/model', 'asked']);
  expect(recording.chain.inside.map(({ id }) => id)).toEqual(['s']);
  expect(recording.chain).toMatchObject({ isUnfinished: true });
  expect(recording.chain).not.toHaveProperty('error');
  expect(recording.chain.layers).toMatchObject([
    { name: 'guard', outcome: 'running', stage: 'inside', changed: [{ path: 'a' }], emitted: ['truncate'] },
    { name: 'in', outcome: 'running', stage: 'in', changed: [], emitted: [] },
  ]);
  expect(recording.halt).toEqual({
    how: 'cancelled',
    error: { message: 'no', code: 'E_CANCELLED' },
    hasBegun: true,
    asked: ['asked'],
    place: [],
    layer: { extension: 'guard', name: 'in' },
  });
});

describe('the problem names the missing part', () => {
  const { outcome: _, ...long } = effect;
  test.each<[string, readonly TraceLine[], string]>([
    ['the start', [], 'its beginning is missing'],
    ['the beginning', whole.filter((line) => line !== beginning), 'its beginning is missing'],
    ['records after the file was full', [...whole, { type: 'cut' }], 'its file reached the size limit'],
    ['dropped records', [...whole, { type: 'dropped', count: 3 }], '3 records'],
    ['chains', [start, beginning, chain, { ...end, chainsMore: 1 }], 'more chains and layers'],
    [
      'layers',
      [start, beginning, { ...chain, chain: { ...chain.chain, layersMore: 2 } }, end],
      'more chains and layers',
    ],
    ['a long answer', [start, beginning, long, chain, end], 'too long to be kept (model 0/model)'],
    [
      'where it was cancelled',
      [start, beginning, chain, { ...end, finishReason: 'error', error: 'E_CANCELLED: no' }],
      'it was cancelled or timed out, and the point was not recorded',
    ],
    [
      'what it went on from',
      [...whole.slice(0, -1), { ...start, resumed: true }, beginning, chain, end],
      'from a state that was not recorded',
    ],
    [
      'what it went on from, which was too long',
      [...whole.slice(0, -1), { ...start, resumed: true }, beginning, { type: 'resume' }, chain, end],
      'from a state that is too long to keep',
    ],
    [
      'any run of it',
      [
        ...whole.slice(0, -1),
        { ...start, resumed: true },
        { ...end, finishReason: 'error', error: 'E_DEAD_LETTER: no' },
      ],
      'became a dead letter',
    ],
  ])('%s', (_name, lines, problem) => {
    expect(assembleRecording(lines)).toEqual({ problem: expect.stringContaining(problem) });
  });

  test('the end, which may still come', () => {
    expect(assembleRecording(whole.slice(0, -1))).toMatchObject({ isUnfinished: true });
  });
});
