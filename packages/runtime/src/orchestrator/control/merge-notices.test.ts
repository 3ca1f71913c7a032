import { describe, expect, test } from 'bun:test';
import type { SwarmNotice } from '../../control/swarm.ts';
import { MergedNotices } from './merge-notices.ts';

const at = { agent: 'entry', instanceKey: 'k' };
const [first, second] = [{}, {}];

function open() {
  const told: string[] = [];
  const merged = new MergedNotices((notice) => {
    if (notice.type === 'delta') told.push(notice.delta.type === 'discard' ? 'discard' : notice.delta.text);
    else if (notice.type === 'runtime.event') told.push(notice.name);
    else told.push(notice.type);
  });
  return { told, one: merged.from(first), two: merged.from(second) };
}

function delta(text: string, stepId = 's1', eventId = 'e1'): SwarmNotice {
  const step = { turnId: `turn-${eventId}`, stepId, stepIndex: 0 };
  return {
    type: 'delta',
    at,
    eventId,
    delta: text === '' ? { type: 'discard', ...step } : { type: 'text', text, ...step },
  };
}

function happened(name: string, n = 0): SwarmNotice {
  return { type: 'runtime.event', at, name, payload: { turnId: 'turn-e1', n } };
}

describe('notices of several nodes', () => {
  test('discard the text of a step that another node runs again, once', () => {
    const { told, one, two } = open();
    for (const notice of [delta('a'), delta('b')]) one(notice);
    for (const notice of [delta('A'), delta('B')]) two(notice);
    expect(told).toEqual(['a', 'b', 'discard', 'A', 'B']);
  });

  test('keep the text of a step that is not run again', () => {
    const { told, one, two } = open();
    one(delta('a'));
    for (const notice of [delta('B', 's2'), delta('C', 's2')]) two(notice);
    expect(told).toEqual(['a', 'B', 'C']);
  });

  test('do not discard a text that is discarded already', () => {
    const { told, one, two } = open();
    for (const notice of [delta('a'), delta('')]) one(notice);
    two(delta('A'));
    expect(told).toEqual(['a', 'discard', 'A']);
  });

  test('of the node before are left out after its turn went on elsewhere, but not those of its other turns', () => {
    const { told, one, two } = open();
    one(delta('a'));
    two(happened('turn.started'));
    for (const notice of [delta('late'), happened('step.started'), delta('other', 's1', 'e2')]) one(notice);
    two(delta('A'));
    expect(told).toEqual(['a', 'turn.started', 'other', 'discard', 'A']);
  });

  test('have each runtime event of a turn once, although a backlog repeats it', () => {
    const { told, one, two } = open();
    for (const notice of [happened('turn.started'), happened('tool.called', 1)]) one(notice);
    for (const notice of [happened('turn.started'), happened('tool.called', 1), happened('tool.called', 2)])
      two(notice);
    expect(told).toEqual(['turn.started', 'tool.called', 'tool.called']);
  });

  test('pass on lines and notes of every node', () => {
    const { told, one, two } = open();
    const line = { time: '', level: 'info', message: 'x' } as const;
    for (const tell of [one, two]) {
      tell({ type: 'log', line });
      tell({ type: 'dropped', count: 1 });
      tell({ type: 'instance', at, change: 'reset' });
      tell({ type: 'runtime.event', at, name: 'agent.ready', payload: {} });
    }
    expect(told).toHaveLength(8);
  });
});
