import { expect, test } from 'bun:test';
import { fakeQuestion } from '../../../runtime/src/testing/fake-control.ts';
import { askInChat, chatAsker, linesAbout } from './ask-in-chat.ts';
import type { Chat } from './chat.ts';
import type { ChatSwarm } from './open-chat-swarm.ts';

const question = {
  ...fakeQuestion,
  toolName: 'bundle__commit',
  args: { what: 'x' },
  reason: 'It changes.',
};

test('the chat shows a tool call in one colour', () => {
  const lines = linesAbout(question).flat();
  expect(lines.map(({ style }) => style)).toEqual(['yellow', 'yellow', 'yellow', 'yellow']);
  expect(lines.slice(0, 3).map(({ text }) => text)).toEqual([
    '3fa9c1d2  helper (default) wants to run bundle__commit',
    '    {"what":"x"}',
    '    It changes.',
  ]);
});

test('L-05 the chat shows the difference of a change in colours', () => {
  const diff = '--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n';
  const args = { changesetId: 'c1', digest: 'd', files: [{ path: 'a', change: 'changed', diff }] };
  const lines = linesAbout({ ...question, kind: 'change', args }).flat();
  expect(lines.slice(0, 7).map(({ text, style }) => [text, style])).toEqual([
    ['3fa9c1d2  helper (default) wants to change its bundle', 'yellow'],
    ['    changed  a  (+1 -1)', 'bold'],
    ['    @@ -1,2 +1,2 @@', 'cyan'],
    ['     same', 'yellow'],
    ['    -old', 'red'],
    ['    +new', 'green'],
    ['    It changes.', 'yellow'],
  ]);
});

test('N-04 the chat does not list the fields of a form, because it asks for them one by one', () => {
  const schema = { type: 'object', properties: { cake: { type: 'string' } } };
  const lines = linesAbout({ ...question, kind: 'form', args: {}, schema }).flat();
  expect(lines.filter(({ text }) => text.includes('cake'))).toEqual([]);
});

test('N-04 the chat knows whether the person was typing a message when the question came', () => {
  const { signal } = new AbortController();
  // The cast is safe: only the draft is read.
  const chatWith = (draft: string) => ({ screen: { draft }, ask: async () => undefined }) as unknown as Chat;
  expect([
    chatAsker(chatWith('half a mess'), signal, String).wasTyping,
    chatAsker(chatWith(''), signal, String).wasTyping,
  ]).toEqual([true, false]);
});

test('N-04 a chat that an agent opened shows a question, and lets nobody answer it', async () => {
  const before = process.env['GOONDAN_RUN'];
  process.env['GOONDAN_RUN'] = 'run-1';
  const done: string[] = [];
  const noted = Promise.withResolvers<void>();
  // The casts are safe: the desk uses only these members.
  const swarm = {
    questions: async () => [question],
    watch: async () => ({ end: () => undefined, ended: Promise.resolve() }),
  } as unknown as ChatSwarm['swarm'];
  const chat = {
    screen: { print: () => void done.push('shown') },
    ask: async () => void done.push('asked'),
    note(text: string) {
      done.push(text);
      noted.resolve();
    },
  } as unknown as Chat;
  try {
    // The cast is safe: see above.
    const desk = await askInChat({ swarm, isOwn: true } as ChatSwarm, chat, (text) =>
      text.replaceAll('3fa9c1d2`', '3fa9c1d2 --bundle b`'),
    );
    await noted.promise;
    desk.close();
    expect(done).toEqual([
      'shown',
      '3fa9c1d2 stays unanswered. /questions asks you again; `gdn approve 3fa9c1d2 --bundle b` and `gdn deny 3fa9c1d2 --bundle b` answer it from another terminal. Ctrl-C cancels the turn.',
    ]);
  } finally {
    if (before === undefined) delete process.env['GOONDAN_RUN'];
    else process.env['GOONDAN_RUN'] = before;
  }
});
