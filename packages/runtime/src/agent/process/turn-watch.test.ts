import { describe, expect, test } from 'bun:test';
import type { TurnDelta } from '@goondan/types';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { WatchedKind } from '../../ipc/to-agent.ts';
import { TurnWatch } from './turn-watch.ts';

function watching(kinds?: readonly WatchedKind[]) {
  const sent: FromAgent[] = [];
  const channel = { send: async (message: FromAgent) => void sent.push(message) };
  return { sent, watch: new TurnWatch(channel, kinds) };
}

const piece = (text: string): TurnDelta => ({ type: 'text', text, turnId: 't', stepId: 's', stepIndex: 0 });

/** One turn with two events and two pieces of output. */
function run(watch: TurnWatch): void {
  watch.happened('turn.started', { turnId: 't' });
  watch.wrote('1', piece('Hel'));
  watch.wrote('1', piece('lo'));
  watch.happened('step.completed', {});
}

describe('a turn', () => {
  test('that nobody watches sends nothing', () => {
    const { sent, watch } = watching();
    run(watch);
    expect(sent).toEqual([]);
  });

  test.each([
    ['delta', 2],
    ['runtime.event', 2],
  ] as const)('sends every frame of a watched kind, and no other: %s', (kind, count) => {
    const { sent, watch } = watching();
    watch.hear({ type: 'watch', kinds: [kind] });
    run(watch);
    expect(sent).toHaveLength(count);
    expect(new Set(sent.map(({ type }) => type))).toEqual(new Set([kind]));
    watch.hear({ type: 'watch', kinds: [] });
    run(watch);
    expect(sent).toHaveLength(count);
  });

  test('is watched from the start of its process', () => {
    const { sent, watch } = watching(['delta', 'runtime.event']);
    run(watch);
    expect(sent).toHaveLength(4);
  });

  test('is reported so far to a watcher that comes later, although nobody watched its beginning', () => {
    const { sent, watch } = watching();
    run(watch);
    watch.hear({ type: 'watch', kinds: ['delta'], soFar: true });
    watch.wrote('1', piece('!'));
    expect(sent).toEqual([
      {
        type: 'so.far',
        events: [{ name: 'turn.started', payload: { turnId: 't' } }],
        deltas: [{ eventId: '1', delta: piece('Hello'), soFar: 'all' }],
      },
      { type: 'delta', eventId: '1', delta: piece('!') },
    ]);
  });

  test('that has ended is not reported', () => {
    const { sent, watch } = watching();
    run(watch);
    watch.turnEnded();
    watch.hear({ type: 'watch', kinds: ['delta'], soFar: true });
    expect(sent).toEqual([{ type: 'so.far', events: [], deltas: [] }]);
  });
});

describe('a turn that was handed ahead and began before its process heard of a watcher', () => {
  test('is sent to the watcher from its beginning, once, and only the kinds that were not sent yet', () => {
    const { sent, watch } = watching(['runtime.event']);
    watch.turnBegan('1');
    run(watch);
    sent.splice(0);
    watch.hear({ type: 'watch', kinds: ['delta', 'runtime.event'], during: '0' });
    expect(sent.splice(0)).toEqual([{ type: 'delta', eventId: '1', delta: piece('Hello') }]);
    watch.hear({ type: 'watch', kinds: [], during: '1' });
    watch.hear({ type: 'watch', kinds: ['runtime.event'], during: '0' });
    expect(sent).toEqual([{ type: 'runtime.event', name: 'turn.started', payload: { turnId: 't' } }]);
  });

  test('is not sent again if the orchestrator knows that it runs', () => {
    const { sent, watch } = watching();
    watch.turnBegan('1');
    run(watch);
    watch.hear({ type: 'watch', kinds: ['delta', 'runtime.event'], during: '1' });
    expect(sent).toEqual([]);
  });
});
