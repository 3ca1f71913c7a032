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
  ['changeset.commit', true],
  // Output of a process causes no read, because a process may print many lines.
  ['process.stdout', false],
  ['process.stderr', false],
  ['startled', false],
  [undefined, false],
])('the log line %p changes the view: %p', (event, isSo) => {
  expect(isInView({ type: 'log', line: { time: '', level: 'info', message: '', ...(event && { event }) } })).toBe(isSo);
});

test('the beginning of a turn and the outcome of a changeset change the view, a step does not', () => {
  const event = (name: string): StudioNotice => ({ type: 'runtime.event', at, name, payload: {} });
  const names = ['turn.started', 'changeset.rejected', 'step.started', 'tool.called'];
  expect(names.map((name) => isInView(event(name)))).toEqual([true, true, false, false]);
});

test('changes of conversations, and the end of the swarm, are read at once', () => {
  const notices: StudioNotice[] = [
    { type: 'instance', at, change: 'deleted' },
    { type: 'conversations' },
    { type: 'swarm', isRunning: false },
    { type: 'runtime.event', at, name: 'turn.started', payload: {} },
  ];
  expect(notices.map(isUrgent)).toEqual([true, true, true, false]);
});
