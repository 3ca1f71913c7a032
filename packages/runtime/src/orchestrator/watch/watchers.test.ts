import { expect, test } from 'bun:test';
import type { SwarmNotice } from '../../control/swarm.ts';
import { Watchers } from './watchers.ts';

const at = { agent: 'a', instanceKey: 'k' };
const notices: readonly SwarmNotice[] = [
  { type: 'delta', at, eventId: '1', delta: { type: 'text', text: 'x', turnId: 'turn-1', stepId: 's', stepIndex: 0 } },
  { type: 'runtime.event', at, name: 'turn.started', payload: { turnId: 'turn-1' } },
  {
    type: 'turn.ended',
    end: {
      agent: 'a',
      instanceKey: 'k',
      eventId: '1',
      traceId: 't',
      result: { turnId: 'turn-1', finishReason: 'text_response' },
      stepCount: 1,
      usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    },
  },
  { type: 'log', line: { time: '', level: 'info', message: '', agent: 'a', instance: 'k', turnId: 'turn-1' } },
];

test.each([
  [{}, 4],
  [{ agent: 'a', instanceKey: 'k', eventId: '1' }, 4],
  [{ agent: 'b' }, 0],
  [{ instanceKey: 'other' }, 0],
  [{ eventId: '2' }, 0],
  [{ types: ['delta', 'log'] as const }, 2],
  [{ types: ['turn.ended'] as const, eventId: '1' }, 1],
])('a watcher with %j gets %d of four notices', (filter, count) => {
  const watchers = new Watchers(() => []);
  const heard: SwarmNotice[] = [];
  const stop = watchers.add(filter, (notice) => void heard.push(notice));
  expect(watchers.isWatched).toBe(true);
  for (const notice of notices) watchers.tell(notice);
  expect(heard).toHaveLength(count);
  stop();
  for (const notice of notices) watchers.tell(notice);
  expect(heard).toHaveLength(count);
  expect(watchers.isWatched).toBe(false);
});

test.each([
  [{}, 0],
  [{ soFar: true }, 4],
  [{ soFar: true, types: ['delta'] as const }, 1],
  [{ soFar: true, agent: 'b' }, 0],
])('a late watcher with %j gets %d of four earlier notices', (filter, count) => {
  const heard: SwarmNotice[] = [];
  new Watchers(() => notices).add(filter, (notice) => void heard.push(notice));
  expect(heard).toHaveLength(count);
});
