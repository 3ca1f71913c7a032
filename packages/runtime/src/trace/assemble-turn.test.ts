import { expect, test } from 'bun:test';
import type { MiddlewareKind } from '@goondan/types';
import { NO_USAGE } from '../ports/token-usage.ts';
import { madeRecord } from '../testing/made-trace.ts';
import { assembleTurn } from './assemble-turn.ts';
import type { TraceLine } from './trace-lines.ts';
import type { ChainRecord } from './turn-trace.ts';

const start = (second: number, resumed = false): TraceLine => ({
  type: 'start',
  time: new Date(second * 1_000).toISOString(),
  turnId: 'turn-1',
  agentName: 'host',
  instanceKey: 'default',
  traceId: 'trace',
  spanId: '1111111111111111',
  source: { kind: 'cli', name: 'gdn' },
  ...(resumed ? { resumed } : {}),
});
const chain = (
  n: number,
  parent: number | undefined,
  kind: MiddlewareKind,
  more: Partial<ChainRecord> = {},
): TraceLine => ({
  type: 'chain',
  n,
  ...(parent === undefined ? {} : { parent }),
  chain: madeRecord(kind, `${kind} ${n}`, { startMs: n, totalMs: 1, ...more }),
});
const end = (second: number): TraceLine => ({
  type: 'end',
  time: new Date(second * 1_000).toISOString(),
  durationMs: 7,
  finishReason: 'text_response',
  stepCount: 2,
});

test('chains are nested as they ran, each in its last version', () => {
  const turn = assembleTurn([
    start(1),
    chain(1, 0, 'step', { isUnfinished: true }),
    chain(2, 1, 'model'),
    chain(1, 0, 'step', { error: 'busy' }),
    chain(3, 0, 'step'),
    chain(0, undefined, 'turn'),
    end(1),
  ]);
  expect(turn).toMatchObject({ durationMs: 7, finishReason: 'text_response', stepCount: 2, resumes: 0 });
  expect(turn?.missing).toEqual({ chains: 0, lines: 0, isCut: false });
  expect(turn?.chain).toMatchObject({
    kind: 'turn',
    inside: [{ label: 'step 1', error: 'busy', inside: [{ label: 'model 2' }] }, { label: 'step 3' }],
  });
  expect(turn?.chain.inside[0]).not.toHaveProperty('isUnfinished');
});

test('a turn that continued after a crash says so, and shows the records of each run', () => {
  const turn = assembleTurn([
    start(1),
    chain(0, undefined, 'turn', { isUnfinished: true }),
    chain(1, 0, 'step'),
    chain(3, 0, 'step', { isUnfinished: true }),
    start(5, true),
    chain(1, 0, 'step', { askedMs: 2 }),
    chain(0, undefined, 'turn'),
    end(6),
  ]);
  expect(turn).toMatchObject({ resumes: 1, durationMs: 5_000, startedAt: '1970-01-01T00:00:01.000Z' });
  expect(turn?.chain).not.toHaveProperty('isUnfinished');
  const steps = turn?.chain.inside.map(({ label, isUnfinished, startMs }) => [label, isUnfinished, startMs]);
  expect(steps).toEqual([
    ['step 1', undefined, 1],
    ['step 3', true, 3],
    ['step 1', undefined, 4_001],
  ]);
  expect(turn?.chain.inside.at(-1)?.askedMs).toBe(4_002);
});

test('missing lines, chains and ends are counted', () => {
  const turn = assembleTurn([start(1), { type: 'dropped', count: 3 }, { type: 'cut' }, chain(9, 4, 'model')]);
  expect(turn?.missing).toEqual({ chains: 0, lines: 3, isCut: true });
  expect(turn?.chain).toMatchObject({ kind: 'turn', label: 'host', isUnfinished: true, inside: [{ kind: 'model' }] });
  expect(turn).not.toHaveProperty('finishReason');
  expect(assembleTurn([chain(0, undefined, 'turn')])).toBeUndefined();
});

test('a turn has the last state of each server', () => {
  const status = (extension: string, state: 'failed' | 'connected'): TraceLine => ({
    type: 'status',
    status: {
      extension,
      state,
      agentName: 'host',
      instanceKey: 'default',
      timestamp: '2026-01-01',
      since: '2026-01-01',
    },
  });
  const lines = [start(1), status('files', 'failed'), status('web', 'connected'), status('files', 'connected'), end(2)];
  expect(assembleTurn(lines)?.extensions).toMatchObject([
    { extension: 'files', state: 'connected' },
    { extension: 'web', state: 'connected' },
  ]);
  expect(assembleTurn([start(1), end(2)])).not.toHaveProperty('extensions');
});

test('L-01 a turn that went on with another plan names both, even if the crash lost the chain of the first run', () => {
  const resume = (plan: string): TraceLine => ({
    type: 'resume',
    point: { events: 0, effects: {}, intents: [], steps: [], nextStep: 1, usage: { usage: NO_USAGE }, plan },
  });
  const turns = [
    [start(1), chain(1, 0, 'step'), start(2, true), resume('a'), chain(0, undefined, 'turn', { plan: 'b' }), end(3)],
    [start(1), start(2, true), resume('a'), chain(0, undefined, 'turn', { plan: 'a' }), end(3)],
    [start(1), chain(0, undefined, 'turn', { plan: 'a' }), end(3)],
  ];
  expect(turns.map((lines) => assembleTurn(lines)?.turnPlans)).toEqual([['a', 'b'], undefined, undefined]);
});
