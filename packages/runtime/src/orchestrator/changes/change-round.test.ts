import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import type { Phase } from '../supervision/instance-state.ts';
import { decisionOf, fateOf, MOST_CHANGES, openRound, type RoundInput, stepRound } from './change-round.ts';

const leaving = { hasTurn: true, afterwards: 'serve', readySince: 0 } as const;
const phases = {
  absent: { name: 'absent' },
  backoff: { name: 'backoff', until: 1 },
  doesNotStart: { name: 'doesNotStart' },
  inLine: { name: 'inLine' },
  starting: { name: 'starting', deadline: 1 },
  ready: { name: 'ready', readySince: 0, idleSince: 0 },
  busy: { name: 'busy', readySince: 0 },
  draining: { name: 'draining', deadline: 1, ...leaving },
  late: { name: 'killed', why: 'late', ...leaving },
  hung: { name: 'killed', why: 'hung', ...leaving },
  startFailed: { name: 'killed', why: 'startFailed', hasTurn: false, afterwards: 'serve' },
  store: { name: 'killed', why: 'store', ...leaving },
  stopped: { name: 'stopped' },
} as const satisfies Record<string, Phase>;
type PhaseName = keyof typeof phases;
const names = Object.keys(phases) as PhaseName[];

describe('the fate of a process', () => {
  test.each(names)('L-01 in the phase %s: changed in place only while it runs and nothing ends it', (name) => {
    const isChangeable = name === 'starting' || name === 'ready' || name === 'busy';
    expect(fateOf(phases[name], undefined, MOST_CHANGES - 1)).toBe(isChangeable ? 'prepare' : 'replace');
    expect(fateOf(phases[name], undefined, MOST_CHANGES)).toBe('replace');
    expect(fateOf(phases[name], 'its environment has changed', 0)).toBe('replace');
  });
});

const error: FrameError = { code: 'E_EXT_INIT', message: 'no' };
const inPhase = (name: PhaseName, hasExited: boolean): RoundInput => ({
  type: 'phase',
  key: 'a',
  process: 1,
  phase: phases[name],
  hasExited,
});

describe('one process of a round', () => {
  const after = (...inputs: RoundInput[]) => decisionOf(inputs.reduce(stepRound, openRound([['a', 1]])));
  const ready: RoundInput = { type: 'ready', key: 'a', process: 1 };

  test.each([
    ['starting', 'waits', 'left'],
    ['ready', 'waits', 'failed'],
    ['busy', 'waits', 'failed'],
    ['draining', 'left', 'left'],
    ['late', 'left', 'left'],
    ['hung', 'failed', 'failed'],
    ['startFailed', 'left', 'left'],
    ['store', 'left', 'left'],
    ['absent', 'left', 'left'],
    ['stopped', 'left', 'left'],
  ] as const)('in the phase %s %s; when it has ended: %s', (name, running, exited) => {
    const outcomeOf = (hasExited: boolean) => {
      const decision = after(inPhase(name, hasExited));
      if (decision === undefined) return 'waits';
      return decision === 'ready' ? 'left' : 'failed';
    };
    expect([outcomeOf(false), outcomeOf(true)]).toEqual([running, exited]);
  });

  test('that is ready and ends by itself fails the change', () => {
    expect(after(ready)).toBe('ready');
    expect(after(ready, inPhase('ready', true))).toMatchObject({ key: 'a', error: { code: 'E_PROCESS_START' } });
    expect(after(ready, inPhase('draining', true))).toBe('ready');
  });

  test('that ends by itself fails the change with the error and place that it has reported', () => {
    const place = { file: 'guard.ts', line: 3, column: 1 };
    const reason = { message: 'Uncaught error: no.', place };
    const crashed: RoundInput = { type: 'crashed', key: 'a', process: 1, reason };
    expect(after(crashed)).toBeUndefined();
    expect(after(crashed, ready, inPhase('ready', true))).toMatchObject({
      error: { message: 'The process ended while it prepared the change. Uncaught error: no.', place },
    });
    expect(after(inPhase('hung', true))).toMatchObject({
      error: { message: 'The process did not answer, and was killed, while it prepared the change.' },
    });
    expect(after({ ...crashed, process: 2 }, inPhase('ready', true))).not.toHaveProperty('error.place');
  });

  test('that was killed before it was ready did not fail the change', () => {
    const early = { name: 'killed', why: 'hung', hasTurn: false, afterwards: 'serve' } as const;
    expect(after({ type: 'phase', key: 'a', process: 1, phase: early, hasExited: true })).toBe('ready');
  });

  test('that was asked to end neither fails the change nor becomes ready for it', () => {
    const left = inPhase('draining', false);
    expect(after(left, { type: 'failed', key: 'a', process: 1, error })).toBe('ready');
    const { asked } = [left, ready].reduce(stepRound, openRound([['a', 1]]));
    expect(asked.get('a')?.standing).toBe('left');
  });

  test('that is late fails the change with the time', () => {
    expect(after({ type: 'late', timeoutMs: 70 })).toMatchObject({
      key: 'a',
      error: { message: expect.stringContaining('70 ms') },
    });
    expect(after(ready, { type: 'late', timeoutMs: 70 })).toBe('ready');
  });
});

const keys = ['a', 'b', 'c'] as const;
const from = { key: fc.constantFrom(...keys, 'unknown'), process: fc.constantFrom(1, 2) };
const inputs: fc.Arbitrary<RoundInput> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('ready' as const), ...from }) },
  fc.record({ type: fc.constant('failed' as const), ...from, error: fc.constant(error) }),
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('phase' as const),
      ...from,
      phase: fc.constantFrom(...Object.values(phases)),
      hasExited: fc.boolean(),
    }),
  },
  fc.record({ type: fc.constant('crashed' as const), ...from, reason: fc.constant({ message: 'no' }) }),
  fc.record({ type: fc.constant('late' as const), timeoutMs: fc.constant(5) }),
);

test('a change is ready only when each asked process is ready or was asked to end, and fails with the first failure', () => {
  fc.assert(
    fc.property(fc.array(inputs, { maxLength: 30 }), (all) => {
      let round = openRound(keys.map((key) => [key, 1]));
      // A second, simpler account of the same round.
      const open = new Set<string>(keys);
      const gone = new Set<string>();
      let failed: string | undefined;
      for (const input of all) {
        round = stepRound(round, input);
        if (failed === undefined) failed = judge(input, open, gone);
        const decision = decisionOf(round);
        if (failed !== undefined) expect(decision).toMatchObject({ key: failed });
        else expect(decision).toBe(open.size === 0 ? 'ready' : undefined);
      }
    }),
  );
});

/** Returns the key of the process that fails the change with this input. */
function judge(input: RoundInput, open: Set<string>, gone: Set<string>): string | undefined {
  if (input.type === 'late') return keys.find((key) => open.has(key));
  const { key } = input;
  if (input.process !== 1 || gone.has(key) || !(keys as readonly string[]).includes(key)) return undefined;
  if (input.type === 'failed') return key;
  if (input.type === 'ready') return void open.delete(key);
  if (input.type === 'crashed') return undefined;
  const { phase, hasExited } = input;
  const isUp = phase.name === 'ready' || phase.name === 'busy';
  if ((isUp && hasExited) || (phase.name === 'killed' && phase.why === 'hung')) return key;
  if (isUp || (phase.name === 'starting' && !hasExited)) return undefined;
  open.delete(key);
  gone.add(key);
  return undefined;
}
