import type { TurnDelta } from '@goondan/types';
import { describe, expect, test } from 'bun:test';
import { TurnBacklog } from './turn-backlog.ts';

describe('the backlog of the running turn', () => {
  test('has the beginning of a turn, its tools, and the output of its step', () => {
    const backlog = new TurnBacklog();
    backlog.happened('turn.started', { turnId: 'turn-1' });
    backlog.happened('step.started', { stepIndex: 0 });
    for (const text of ['Let ', 'me ', 'see.']) backlog.wrote('1', text0(text));
    backlog.wrote('1', { ...text0('Hm.'), type: 'reasoning' });
    backlog.happened('tool.called', { toolCallId: 'c' });
    backlog.happened('agent.renamed', {});
    expect(backlog.soFar()).toEqual({
      events: [
        { name: 'turn.started', payload: { turnId: 'turn-1' } },
        { name: 'step.started', payload: { stepIndex: 0 } },
        { name: 'tool.called', payload: { toolCallId: 'c' } },
      ],
      deltas: [
        { eventId: '1', delta: { ...text0('Hm.'), type: 'reasoning' }, soFar: 'all' },
        { eventId: '1', delta: text0('Let me see.'), soFar: 'all' },
      ],
    });
  });

  test('has no output of earlier steps, and no discarded output', () => {
    const backlog = new TurnBacklog();
    backlog.wrote('1', text0('Let me see.'));
    backlog.wrote('1', { ...text0('It is'), stepId: 's1', stepIndex: 1 });
    expect(written(backlog)).toEqual(['It is']);
    backlog.wrote('1', { type: 'discard', turnId: 'turn-1', stepId: 's1', stepIndex: 1 });
    expect(written(backlog)).toEqual([]);
    backlog.wrote('1', { ...text0('It was'), stepId: 's1', stepIndex: 1 });
    expect(written(backlog)).toEqual(['It was']);
    backlog.happened('step.started', { stepIndex: 2 });
    expect(written(backlog)).toEqual([]);
  });

  test('is empty after the end of the turn', () => {
    const backlog = new TurnBacklog();
    backlog.happened('turn.started', {});
    backlog.wrote('1', text0('x'));
    backlog.over();
    expect(backlog.soFar()).toEqual({ events: [], deltas: [] });
  });

  test('is bounded: of too much output it keeps the end, and says so', () => {
    const backlog = new TurnBacklog();
    backlog.happened('turn.started', {});
    for (let n = 0; n < 1_000; n += 1) {
      backlog.happened('tool.called', { toolCallId: `c${n}` });
      backlog.wrote('1', text0(`${n % 10}`.repeat(1_024)));
    }
    const { events, deltas } = backlog.soFar();
    expect(events).toHaveLength(200);
    expect(events[0]).toMatchObject({ payload: { toolCallId: 'c800' } });
    expect(deltas).toMatchObject([{ soFar: 'end' }]);
    const [text = ''] = written(backlog);
    expect(text).toHaveLength(256 * 1024);
    expect(text).toEndWith('9'.repeat(1_024));
  });

  test('keeps the newest wait for a limit, so that many waits leave room for the other events', () => {
    const backlog = new TurnBacklog();
    backlog.happened('turn.started', {});
    for (let n = 0; n < 1_000; n += 1) {
      backlog.happened('limit.reached', { n });
      if (n < 999) backlog.happened('limit.waited', { n });
    }
    const [began, reached] = [
      { name: 'turn.started', payload: {} },
      { name: 'limit.reached', payload: { n: 999 } },
    ];
    expect(backlog.soFar().events).toEqual([began, reached]);
    backlog.happened('limit.waited', { n: 999 });
    expect(backlog.soFar().events).toEqual([began, reached, { name: 'limit.waited', payload: { n: 999 } }]);
  });
});

function text0(text: string): Extract<TurnDelta, { readonly text: string }> {
  return { type: 'text', text, turnId: 'turn-1', stepId: 's0', stepIndex: 0 };
}

function written(backlog: TurnBacklog): string[] {
  return backlog.soFar().deltas.flatMap(({ delta }) => (delta.type === 'text' ? [delta.text] : []));
}
