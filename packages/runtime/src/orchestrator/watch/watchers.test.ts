import { expect, test } from 'bun:test';
import type { SwarmNotice } from '../../control/swarm.ts';
import type { WatchedKind } from '../../ipc/to-agent.ts';
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
  const watchers = new Watchers({ questions: () => [], instances: () => [] });
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
  const watchers = new Watchers({ questions: () => notices, instances: () => [] });
  watchers.add(filter, (notice) => void heard.push(notice));
  expect(heard).toHaveLength(count);
});

/** Three instances; each writes down what it was told to send. The turn of the first one runs. */
function watched() {
  const told: string[] = [];
  const instances = ['one', 'two', 'three'].map((instanceKey) => ({
    address: { agentName: 'a', instanceKey },
    running: instanceKey === 'one' ? {} : undefined,
    watch: (kinds: readonly WatchedKind[], wantsSoFar: boolean) =>
      void told.push(`${instanceKey}: ${kinds.join(' ')}${wantsSoFar ? ' so far' : ''}`),
  }));
  return { told, watchers: new Watchers({ questions: () => [], instances: () => instances }) };
}

test('the processes learn which kinds somebody watches, and when nobody does any more', () => {
  const { told, watchers } = watched();
  const listen = () => undefined;
  const endOne = watchers.add({ agent: 'a', instanceKey: 'one', types: ['delta'] }, listen);
  expect(told.splice(0)).toEqual(['one: delta']);
  const endAll = watchers.add({}, listen);
  expect(told.splice(0)).toEqual([
    'one: delta runtime.event',
    'two: delta runtime.event',
    'three: delta runtime.event',
  ]);
  watchers.add({ types: ['turn.ended', 'log', 'question'] }, listen);
  watchers.add({ agent: 'b' }, listen);
  expect(told.splice(0)).toEqual([]);
  endAll();
  expect(told.splice(0)).toEqual(['one: delta', 'two: ', 'three: ']);
  endOne();
  endOne();
  expect(told).toEqual(['one: ']);
  expect(watchers.kindsOf({ agentName: 'b', instanceKey: 'k' })).toEqual(['delta', 'runtime.event']);
});

test('a late watcher gets the running turn so far before what follows, and each piece once', () => {
  const { told, watchers } = watched();
  const one = { agentName: 'a', instanceKey: 'one' };
  const piece = (text: string) => ({ type: 'text', text, turnId: 't', stepId: 's', stepIndex: 0 }) as const;
  const live = (text: string, instanceKey = 'one'): SwarmNotice => ({
    type: 'delta',
    at: { agent: 'a', instanceKey },
    eventId: '1',
    delta: piece(text),
  });
  const heard: string[] = [];
  const hear = (name: string) => (notice: SwarmNotice) =>
    void heard.push(`${name} ${notice.type === 'delta' && 'text' in notice.delta ? notice.delta.text : notice.type}`);
  watchers.add({}, hear('first'));
  told.splice(0);
  watchers.add({ soFar: true }, hear('late'));
  expect(told).toEqual(['one: delta runtime.event so far', 'two: delta runtime.event', 'three: delta runtime.event']);
  watchers.tell(live('b'));
  watchers.tell(live('x', 'two'));
  watchers.heard(one, {
    type: 'so.far',
    events: [{ name: 'turn.started', payload: {} }],
    deltas: [{ eventId: '1', delta: piece('ab'), soFar: 'all' }],
  });
  watchers.tell(live('c'));
  const late = ['late x', 'late runtime.event', 'late ab', 'late c'];
  expect(heard.filter((each) => each.startsWith('late'))).toEqual(late);
  expect(heard.filter((each) => each.startsWith('first'))).toEqual(['first b', 'first x', 'first c']);
});

test('a late watcher does not wait for a process that has exited', () => {
  const { watchers } = watched();
  const heard: SwarmNotice[] = [];
  watchers.add({ soFar: true }, (notice) => void heard.push(notice));
  const one = { agent: 'a', instanceKey: 'one' };
  const event = { type: 'runtime.event', at: one, name: 'turn.started', payload: {} } as const;
  watchers.tell(event);
  watchers.processGone({ agentName: 'a', instanceKey: 'one' });
  watchers.tell(event);
  expect(heard).toEqual([event]);
});

test('Y-08 a watcher of an event that another turn takes gets the output of that turn from then on', () => {
  const watchers = new Watchers({ questions: () => [], instances: () => [] });
  const heard: string[] = [];
  watchers.add({ ...at, eventId: 'n' }, (notice) => void heard.push(notice.type));
  for (const notice of notices) watchers.tell(notice);
  expect(heard).toEqual([]);
  const payload = { turnId: 'turn-1', eventId: 'n' };
  watchers.tell({ type: 'runtime.event', at: { ...at, instanceKey: 'other' }, name: 'turn.steered', payload });
  watchers.tell({ type: 'runtime.event', at, name: 'turn.steered', payload: { ...payload, eventId: 'm' } });
  for (const notice of notices) watchers.tell(notice);
  expect(heard).toEqual([]);
  watchers.tell({ type: 'runtime.event', at, name: 'turn.steered', payload });
  for (const notice of notices) watchers.tell(notice);
  // The end is that of its own event, which comes with the end of the turn.
  expect(heard).toEqual(['runtime.event', 'delta', 'runtime.event']);
});
