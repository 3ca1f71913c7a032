import type { StudioNotice } from '@goondan/cli/studio';
import { describe, expect, test } from 'bun:test';
import { followNotice, liveKey, type LiveTurns } from './live-turns.ts';

const at = { agent: 'concierge', instanceKey: 'default' };
const id = liveKey('concierge', 'default');

describe('the running turns', () => {
  test('join text step by step', () => {
    const turns = follow(started(), text('Hel', 0), text('lo', 0));
    expect(turns[id]).toMatchObject({ turnId: 't1', text: 'Hello', stepIndex: 0 });
    expect(follow(started(), text('Let me look', 0), text('It is', 1))[id]).toMatchObject({ text: 'It is' });
  });

  test('start anew with each step', () => {
    const turns = follow(started(), text('Let me look', 0), event('step.started', { stepIndex: 1 }));
    expect(turns[id]).toMatchObject({ text: '', reasoning: '', stepIndex: 1 });
  });

  test('drop discarded text', () => {
    const discard: StudioNotice = {
      type: 'delta',
      at,
      eventId: 'e1',
      delta: { type: 'discard', turnId: 't1', stepId: 's', stepIndex: 0 },
    };
    expect(follow(started(), text('wrong', 0), discard)[id]?.text).toBe('');
  });

  test('have the times at which the turn, its step and its calls began', () => {
    const since = (timestamp: string) => ({ toolCallId: 'c1', toolName: 'x', args: '', timestamp });
    const turns = follow(
      event('turn.started', { turnId: 't1', timestamp: '1' }),
      event('step.started', { stepIndex: 0, timestamp: '2' }),
      event('tool.called', since('3')),
      event('approval.asked', since('4')),
    );
    expect(turns[id]).toMatchObject({ startedAt: '1', stepAt: '2', tools: [{ since: '3' }] });
  });

  test('wait for a limit of their model until the wait is over', () => {
    const reached = event('limit.reached', { limit: 'concurrent: 3 of Model/main' });
    expect(follow(started(), reached)[id]?.limit).toBe('concurrent: 3 of Model/main');
    expect(follow(started(), reached, event('limit.waited', {}))[id]).not.toHaveProperty('limit');
  });

  test('show a tool call on one line, whatever its outcome', () => {
    const called = event('tool.called', { toolCallId: 'c1', toolName: 'picnic__book', args: '{}' });
    const asked = event('approval.asked', { toolCallId: 'c1', toolName: 'picnic__book', args: '{}' });
    const other = event('tool.called', { toolCallId: 'c2', toolName: 'x', args: '{}' });
    const failed = event('tool.completed', { toolCallId: 'c1', toolName: 'picnic__book', args: '{}', status: 'error' });
    expect(states(follow(started(), called))).toEqual(['running']);
    expect(follow(started(), called)[id]?.tools).toMatchObject([{ id: 'c1', name: 'picnic__book', args: '{}' }]);
    expect(states(follow(started(), called, asked, other))).toEqual(['waiting', 'running']);
    expect(states(follow(started(), called, asked, other, failed))).toEqual(['error', 'running']);
  });

  test('end with the end of the turn, when its commit can be read, not with its own events', () => {
    const end: StudioNotice = {
      type: 'turn.ended',
      end: {
        agent: 'concierge',
        instanceKey: 'default',
        eventId: 'e1',
        traceId: 'x',
        result: { turnId: 't1', finishReason: 'text_response' },
        stepCount: 1,
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      },
    };
    const running = follow(started(), event('turn.completed', {}));
    expect(running[id]).toBeDefined();
    expect(followNotice(running, end)).toEqual({});
    expect(followNotice(running, { type: 'swarm', isRunning: false })).toEqual({});
    expect(followNotice(running, { type: 'swarm', isRunning: true })).toBe(running);
  });

  test('are picked up when the page is opened during a turn, with all text so far', () => {
    const picked = follow({ ...text('Hel', 2), soFar: 'all' });
    expect(picked[id]).toMatchObject({ agent: 'concierge', turnId: 't1', text: 'Hel', stepIndex: 2, isCut: false });
    expect(followNotice(picked, text('lo', 2))[id]).toMatchObject({ text: 'Hello', isCut: false });
    // After a gap, the whole text is sent again and replaces the old text.
    expect(followNotice(picked, { ...text('Hello', 2), soFar: 'all' })[id]).toMatchObject({ text: 'Hello' });
  });

  test('mark text whose beginning was dropped, until the next step', () => {
    const picked = follow({ ...text('lo', 2), soFar: 'end' });
    expect(followNotice(picked, text('!', 2))[id]).toMatchObject({ text: 'lo!', isCut: true });
    expect(followNotice(picked, text('Next', 3))[id]).toMatchObject({ text: 'Next', isCut: false });
    expect(followNotice(picked, event('step.started', { stepIndex: 3 }))[id]).toMatchObject({ isCut: false });
  });

  test('are not started by events outside of a turn', () => {
    expect(follow(event('turn.completed', {}), event('turn.failed', {}), event('agent.renamed', {}))).toEqual({});
  });

  test('stay within limits', () => {
    let turns = follow(started());
    for (let n = 0; n < 300; n += 1) {
      turns = followNotice(turns, event('tool.called', { toolCallId: `c${n}`, toolName: 'x', args: '' }));
      turns = followNotice(turns, text('x'.repeat(10_000), 0));
    }
    expect(turns[id]?.tools.length).toBe(100);
    expect(turns[id]?.text.length).toBe(256 * 1024);
    expect(turns[id]?.isCut).toBe(true);
  });
});

function follow(...notices: StudioNotice[]): LiveTurns {
  return notices.reduce<LiveTurns>(followNotice, {});
}

function started(): StudioNotice {
  return event('turn.started', { turnId: 't1', traceId: 'x' });
}

function event(name: string, payload: Record<string, string | number>): StudioNotice {
  return { type: 'runtime.event', at, name, payload };
}

function text(written: string, stepIndex: number): Extract<StudioNotice, { readonly type: 'delta' }> {
  const delta = { type: 'text', text: written, turnId: 't1', stepId: `s${stepIndex}`, stepIndex } as const;
  return { type: 'delta', at, eventId: 'e1', delta };
}

function states(turns: LiveTurns): string[] {
  return turns[id]?.tools.map(({ state }) => state) ?? [];
}
