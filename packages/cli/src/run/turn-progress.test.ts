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

const opened: Step = ['turn.started', turn];
const begun: readonly Step[] = [opened, ['step.started', step]];
const handedOn: readonly Step[] = [...begun, ['tool.called', tool], ['turn.started', called, 'clerk']];
const status = (state: string): Step => ['extension.status', { ...server, state }];

test.each<[shown: string, steps: readonly Step[]]>([
  ['60 s · host · waits to start', []],
  ['59 s · host · works', [opened]],
  ['58 s · host · model call', begun],
  ['57 s · host · bash__exec', [...begun, ['tool.called', tool]]],
  ['58 s · host · model call', [...begun, ['tool.called', tool], ['tool.failed', tool]]],
  ['59 s · host · works', [...begun, ['step.completed', step]]],
  ['56 s · host · bash__exec waits for an answer', [...begun, ['tool.called', tool], ['approval.asked', tool]]],
  ['56 s · host · bash__exec', [...begun, ['approval.asked', tool], ['approval.decided', tool]]],
  ['57 s · host · waits for concurrent: 1 of Model/main', [...begun, ['limit.reached', limit]]],
  ['58 s · host · model call', [...begun, ['limit.reached', limit], ['limit.waited', limit]]],
  ['58 s · host · files is connecting', [opened, status('connecting')]],
  ['59 s · host · works', [opened, status('connecting'), status('connected')]],
  ['58 s · host · files is reconnecting', [opened, status('reconnecting')]],
  ['56 s · clerk · works', handedOn],
  ['57 s · host · bash__exec', [...handedOn, ['turn.completed', called, 'clerk']]],
  ['56 s · host · works', [...begun, ['tool.called', tool], ['turn.started', turn]]],
  ['59 s · host · works', [...handedOn, ['tool.failed', tool], ['step.completed', step], ['turn.failed', called]]],
])('shows %p', (shown, steps) => {
  expect(progressAfter(steps).describe(60_000).replace('1 min 0 s', '60 s')).toBe(shown);
});

test('keeps no more than 1,000 works', () => {
  const calls = Array.from({ length: 1_001 }, (_, id): Step => [
    'tool.called',
    { spanId: `${id}`, toolName: `t-${id}` },
  ]);
  expect(progressAfter([opened, ...calls]).describe(2_000_000)).toEndWith(' · host · t-998');
});

test('the model writes until its step calls a tool or is over', () => {
  const delta = { type: 'text', text: 'Hi', turnId: 'turn-1', stepId: 's1', stepIndex: 0 } as const;
  const wrote = { type: 'delta', at: { agent: 'host', instanceKey: 'default' }, eventId: 'e', delta } as const;
  const isWriting = (steps: readonly Step[]) => {
    const progress = progressAfter(steps);
    progress.hear(wrote, 5_000);
    return progress.isWriting;
  };
  expect([begun, handedOn, [opened]].map(isWriting)).toEqual([true, false, false]);
});
