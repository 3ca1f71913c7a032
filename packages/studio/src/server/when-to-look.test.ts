import type { StudioNotice } from '@goondan/cli/studio';
import { expect, test } from 'bun:test';
import { isInView, isUrgent } from './when-to-look.ts';

const at = { agent: 'a', instanceKey: 'k' };

test.each([
  ['process.exited', true],
  ['start.failed', true],
  ['connection.listening', true],
  ['event.dead_lettered', true],
  ['swarm.reloaded', true],
  // As many as a process prints.
  ['process.stdout', false],
  ['process.stderr', false],
  ['startled', false],
  [undefined, false],
])('the line %p of a log is about what is in view: %p', (event, isSo) => {
  expect(isInView({ type: 'log', line: { time: '', level: 'info', message: '', ...(event && { event }) } })).toBe(isSo);
});

test('a turn that begins is, a step of it is not', () => {
  const event = (name: string): StudioNotice => ({ type: 'runtime.event', at, name, payload: {} });
  expect([event('turn.started'), event('step.started'), event('tool.called')].map(isInView)).toEqual([
    true,
    false,
    false,
  ]);
});

test('what is done to conversations is looked at at once', () => {
  const notices: StudioNotice[] = [
    { type: 'instance', at, change: 'deleted' },
    { type: 'conversations' },
    { type: 'runtime.event', at, name: 'turn.started', payload: {} },
  ];
  expect(notices.map(isUrgent)).toEqual([true, true, false]);
});
