import type { TurnDelta } from '@goondan/types';
import { describe, expect, test } from 'bun:test';
import { TurnBacklog } from './turn-backlog.ts';

const at = { agentName: 'a', instanceKey: 'k' };

describe('the backlog of running turns', () => {
  test('has the beginning of a turn, its tools, and the output of its step', () => {
    const backlog = new TurnBacklog();
    backlog.happened(at, 'turn.started', { turnId: 'turn-1' });
    backlog.happened(at, 'step.started', { stepIndex: 0 });
    for (const text of ['Let ', 'me ', 'see.']) backlog.wrote(at, '1', text0(text));
    backlog.wrote(at, '1', { ...text0('Hm.'), type: 'reasoning' });
    backlog.happened(at, 'tool.called', { toolCallId: 'c' });
    backlog.happened(at, 'agent.renamed', {});
    const told = { agent: 'a', instanceKey: 'k' };
    expect([...backlog.notices()]).toEqual([
      { type: 'runtime.event', at: told, name: 'turn.started', payload: { turnId: 'turn-1' } },
      { type: 'runtime.event', at: told, name: 'step.started', payload: { stepIndex: 0 } },
      { type: 'runtime.event', at: told, name: 'tool.called', payload: { toolCallId: 'c' } },
      { type: 'delta', at: told, eventId: '1', delta: { ...text0('Hm.'), type: 'reasoning' }, soFar: 'all' },
      { type: 'delta', at: told, eventId: '1', delta: text0('Let me see.'), soFar: 'all' },
    ]);
  });

  test('has no output of earlier steps, and no discarded output', () => {
    const backlog = new TurnBacklog();
    backlog.wrote(at, '1', text0('Let me see.'));
    backlog.wrote(at, '1', { ...text0('It is'), stepId: 's1', stepIndex: 1 });
    expect(written(backlog)).toEqual(['It is']);
    backlog.wrote(at, '1', { type: 'discard', turnId: 'turn-1', stepId: 's1', stepIndex: 1 });
    expect(written(backlog)).toEqual([]);
    backlog.wrote(at, '1', { ...text0('It was'), stepId: 's1', stepIndex: 1 });
    expect(written(backlog)).toEqual(['It was']);
    backlog.happened(at, 'step.started', { stepIndex: 2 });
    expect(written(backlog)).toEqual([]);
  });

  test('is removed at the end of the turn, for that instance alone', () => {
    const backlog = new TurnBacklog();
    backlog.wrote(at, '1', text0('x'));
    backlog.wrote({ ...at, instanceKey: 'other' }, '2', text0('y'));
    backlog.over(at);
    expect(written(backlog)).toEqual(['y']);
  });

  test('is bounded: of too much output it keeps the end, and says so', () => {
    const backlog = new TurnBacklog();
    backlog.happened(at, 'turn.started', {});
    for (let n = 0; n < 1_000; n += 1) {
      backlog.happened(at, 'tool.called', { toolCallId: `c${n}` });
      backlog.wrote(at, '1', text0(`${n % 10}`.repeat(1_024)));
    }
    const notices = [...backlog.notices()];
    expect(notices).toHaveLength(201);
    expect(notices[0]).toMatchObject({ payload: { toolCallId: 'c800' } });
    expect(notices.at(-1)).toMatchObject({ soFar: 'end' });
    const [text = ''] = written(backlog);
    expect(text).toHaveLength(256 * 1024);
    expect(text).toEndWith('9'.repeat(1_024));
  });
});

function text0(text: string): Extract<TurnDelta, { readonly text: string }> {
  return { type: 'text', text, turnId: 'turn-1', stepId: 's0', stepIndex: 0 };
}

function written(backlog: TurnBacklog): string[] {
  return [...backlog.notices()].flatMap((notice) =>
    notice.type === 'delta' && notice.delta.type === 'text' ? [notice.delta.text] : [],
  );
}
