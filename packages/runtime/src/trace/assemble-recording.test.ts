import { describe, expect, test } from 'bun:test';
import { assembleRecording } from './assemble-recording.ts';
import type { BeginningLine, ChainLine, EffectLine, EndLine, StartLine, TraceLine } from './trace-lines.ts';

const start: StartLine = {
  type: 'start',
  format: 1,
  time: '2026-01-01T00:00:00.000Z',
  turnId: 'turn-1',
  agentName: 'host',
  instanceKey: 'default',
  traceId: 'a'.repeat(32),
  spanId: '1'.repeat(16),
};
const beginning: BeginningLine = {
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
const effect: EffectLine = {
  type: 'effect',
  key: '0/model',
  kind: 'model',
  asked: {},
  outcome: { ok: true, value: 'hello' },
};
const chain: ChainLine = {
  type: 'chain',
  n: 0,
  chain: { kind: 'turn', label: 'host', id: 'turn-1', startMs: 0, totalMs: 1 },
};
const end: EndLine = {
  type: 'end',
  time: '2026-01-01T00:00:01.000Z',
  durationMs: 1,
  finishReason: 'text_response',
  stepCount: 1,
};
const whole: readonly TraceLine[] = [start, beginning, effect, chain, end];

test('the lines of a turn are its recording', () => {
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

describe('it is said what is missing', () => {
  const { outcome: _, ...long } = effect;
  test.each<[string, readonly TraceLine[], string]>([
    ['the start', [], 'its beginning is not there'],
    ['what it began with', whole.filter((line) => line !== beginning), 'a version of goondan'],
    ['what came after the file was full', [...whole, { type: 'cut' }], 'its file is full'],
    ['what was let go', [...whole, { type: 'dropped', count: 3 }], '3 records'],
    ['chains', [start, beginning, chain, { ...end, chainsMore: 1 }], 'more chains and layers'],
    [
      'layers',
      [start, beginning, { ...chain, chain: { ...chain.chain, layersMore: 2 } }, end],
      'more chains and layers',
    ],
    ['a long answer', [start, beginning, long, chain, end], 'too long to be kept (model 0/model)'],
    [
      'where it was cancelled, which earlier versions did not keep',
      [start, beginning, chain, { ...end, finishReason: 'error', error: 'E_CANCELLED: no' }],
      'it was cancelled or out of time, and where was not recorded then',
    ],
    [
      'what it went on from, which earlier versions did not keep',
      [...whole.slice(0, -1), { ...start, resumed: true }, beginning, chain, end],
      'went on in another process, and from what was not recorded then',
    ],
    [
      'what it went on from, which was too long',
      [...whole.slice(0, -1), { ...start, resumed: true }, beginning, { type: 'resume' }, chain, end],
      'from more than can be kept',
    ],
    [
      'any run of it',
      [
        ...whole.slice(0, -1),
        { ...start, resumed: true },
        { ...end, finishReason: 'error', error: 'E_DEAD_LETTER: no' },
      ],
      'put aside as a dead letter',
    ],
  ])('%s', (_name, lines, problem) => {
    expect(assembleRecording(lines)).toEqual({ problem: expect.stringContaining(problem) });
  });

  test('the end, which may come', () => {
    expect(assembleRecording(whole.slice(0, -1))).toMatchObject({ isUnfinished: true });
  });
});
