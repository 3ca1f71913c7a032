import { expect, test } from 'bun:test';
import type { RuntimeEventName } from '@goondan/types';
import { TurnProgress } from './turn-progress.ts';

type Step = readonly [name: RuntimeEventName, payload: Readonly<Record<string, string>>, agent?: string];

const turn = { spanId: 'turn', turnId: 'turn-1' };
const step = { spanId: 'step', turnId: 'turn-1', stepId: 's1' };
const tool = { spanId: 'tool', turnId: 'turn-1', toolName: 'bash__exec' };
const limit = { spanId: 'step', turnId: 'turn-1', limit: 'concurrent: 1 of Model/main' };
const server = { extension: 'files', turnId: 'turn-1' };
const called = { spanId: 'other', turnId: 'turn-2' };

function progressAfter(steps: readonly Step[]): TurnProgress {
  const progress = new TurnProgress('host', 0);
  for (const [index, [name, payload, agent = 'host']] of steps.entries()) {
    const at = { agent, instanceKey: 'default' };
    progress.hear({ type: 'runtime.event', at, name, payload }, (index + 1) * 1_000);
  }
  return progress;
}

const begun: readonly Step[] = [
  ['turn.started', turn],
  ['step.started', step],
];

test.each<[shown: string, steps: readonly Step[]]>([
  ['host · waits to start · 60 s', []],
  ['host · works · 59 s', [['turn.started', turn]]],
  ['host · model call · 58 s', begun],
  ['host · bash__exec · 57 s', [...begun, ['tool.called', tool]]],
  ['host · model call · 58 s', [...begun, ['tool.called', tool], ['tool.failed', tool]]],
  ['host · works · 59 s', [...begun, ['step.completed', step]]],
  ['host · bash__exec waits for an answer · 56 s', [...begun, ['tool.called', tool], ['approval.asked', tool]]],
  ['host · bash__exec · 56 s', [...begun, ['approval.asked', tool], ['approval.decided', tool]]],
  ['host · waits for concurrent: 1 of Model/main · 57 s', [...begun, ['limit.reached', limit]]],
  ['host · model call · 58 s', [...begun, ['limit.reached', limit], ['limit.waited', limit]]],
  [
    'host · files is connecting · 58 s',
    [
      ['turn.started', turn],
      ['extension.status', { ...server, state: 'connecting' }],
    ],
  ],
  [
    'host · works · 59 s',
    [
      ['turn.started', turn],
      ['extension.status', { ...server, state: 'connecting' }],
      ['extension.status', { ...server, state: 'connected' }],
    ],
  ],
  ['clerk · works · 56 s', [...begun, ['tool.called', tool], ['turn.started', called, 'clerk']]],
  [
    'host · bash__exec · 57 s',
    [...begun, ['tool.called', tool], ['turn.started', called, 'clerk'], ['turn.completed', called, 'clerk']],
  ],
  ['host · works · 56 s', [...begun, ['tool.called', tool], ['turn.started', turn]]],
  [
    'host · works · 59 s',
    [...begun, ['turn.started', called, 'clerk'], ['step.completed', step], ['turn.failed', called]],
  ],
])('shows %p', (shown, steps) => {
  expect(progressAfter(steps).describe(60_000).replace('1 min 0 s', '60 s')).toBe(shown);
});

test('the model writes until its step calls a tool or is over', () => {
  const delta = { type: 'text', text: 'Hi', turnId: 'turn-1', stepId: 's1', stepIndex: 0 } as const;
  const wrote = { type: 'delta', at: { agent: 'host', instanceKey: 'default' }, eventId: 'e', delta } as const;
  const isWriting = (steps: readonly Step[]) => {
    const progress = progressAfter(steps);
    progress.hear(wrote, 5_000);
    return progress.isWriting;
  };
  expect([begun, [...begun, ['tool.called', tool] as const], [begun[0] as Step]].map(isWriting)).toEqual([
    true,
    false,
    false,
  ]);
});
