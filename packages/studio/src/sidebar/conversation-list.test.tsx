import { expect, test } from 'bun:test';
import type { InstanceView, WorkspaceView } from '@goondan/cli/studio';
import { renderToStaticMarkup } from 'react-dom/server';
import { emptyTurn, type LiveTurn, liveKey } from '../live/live-turns.ts';
import { describeWaiting } from '../questions/describe-question.ts';
import { ConversationList } from './conversation-list.tsx';

const address = { agent: 'a', instanceKey: 'k' };
const well: InstanceView = { ...address, status: 'idle', messages: 0, updatedAt: null, queued: 0, crashes: 0 };
// Clocks in a test stand at 0.
const turn: LiveTurn = { ...emptyTurn('a', 'k'), startedAt: new Date(-7_000).toISOString() };

test.each<[string, InstanceView, LiveTurn | undefined, string]>([
  ['is-running', well, undefined, ''],
  ['is-failed', { ...well, failed: true }, undefined, ''],
  ['is-failed', { ...well, crashes: 1 }, undefined, ''],
  ['is-working', { ...well, failed: true }, turn, '7 s'],
  ['is-working', well, { ...turn, startedAt: '' }, ''],
  ['is-waiting', well, { ...turn, limit: 'calls' }, '7 s'],
])('a conversation has the mark %s: %j, %j', (mark, conversation, live, clock) => {
  // The cast is safe: the list reads no more of the view.
  const shown = { workspaceId: 'w', conversations: [conversation], agents: [], questions: [] };
  const view = shown as unknown as WorkspaceView;
  const turns = live === undefined ? {} : { [liveKey('a', 'k')]: live };
  const list = { view, live: turns, shown: undefined, show: () => undefined };
  const [, link = ''] = renderToStaticMarkup(<ConversationList {...list} onlyFailed={false} />).split('<a ');
  expect(link).toContain(`class="dot ${mark}"`);
  expect(link.match(/class="clock">([^<]*)/)?.[1] ?? '').toBe(clock);
  const failed = renderToStaticMarkup(<ConversationList {...list} onlyFailed />);
  expect(failed.match(/href="([^"]*)/)?.[1]).toBe(
    conversation.failed === true || conversation.crashes > 0 ? '#/w/a/k?failed=1' : undefined,
  );
});

test('a person is waited for first, then a limit', () => {
  const limited = { limit: 'calls' };
  const waits = [[{ kind: 'budget' } as const], [{ kind: 'call' } as const], []].map((each) =>
    describeWaiting(each, limited),
  );
  expect([...waits, describeWaiting([], {})]).toEqual(['you: a budget', 'you', 'a rate limit: calls', undefined]);
});
