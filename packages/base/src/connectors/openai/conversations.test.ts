import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Conversations, type Parties } from './conversations.ts';
import type { ChatMessage } from './read-chat.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'conversations-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const kim: Parties = { client: 'default', agent: 'porter' };
const user = (text: string): ChatMessage => ({ role: 'user', text });
const assistant = (text: string): ChatMessage => ({ role: 'assistant', text });
const hello = [user('hello'), assistant('Hi.')];

function open(most?: number): Conversations {
  let made = 0;
  return new Conversations(folder, ['default', 'ci', 'ci/two'], () => `new-${(made += 1)}`, most);
}

/** Creates a conversation in which `hello` was answered. */
function begun(): Conversations {
  const conversations = open();
  conversations.find(kim, [], 'hello').answered('Hi.');
  return conversations;
}

describe('a chat', () => {
  test('begins a conversation, and continues in it', () => {
    const conversations = open();
    const first = conversations.find(kim, [], 'hello');
    expect(first).toMatchObject({ conversation: 'new-1', isKnown: false });
    first.answered('Hi.');
    const second = conversations.find(kim, hello, 'more');
    expect(second).toMatchObject({ conversation: 'new-1', isKnown: true });
    second.answered('Yes.');
    const all = [...hello, user('more'), assistant('Yes.')];
    expect(conversations.find(kim, all, 'x')).toMatchObject({ conversation: 'new-1', isKnown: true });
  });

  test('with the same first words is another conversation', () => {
    const conversations = open();
    const one = conversations.find(kim, [], 'hello').conversation;
    expect(conversations.find(kim, [], 'hello').conversation).not.toBe(one);
  });

  test('is recognised whatever the client does to white space and system messages', () => {
    const told = [{ role: 'system', text: 'It is 9:01.' } as const, user(' hello\n'), assistant('Hi. ')];
    expect(begun().find(kim, told, 'more')).toMatchObject({ conversation: 'new-1', isKnown: true });
  });

  test.each<[what: string, parties: Parties, earlier: ChatMessage[]]>([
    ['was edited', kim, [user('hallo'), assistant('Hi.')]],
    ['has another answer in it', kim, [user('hello'), assistant('Ho.')]],
    ['is cut', kim, [user('hello')]],
    ['comes from elsewhere', kim, [user('what?'), assistant('That.')]],
    ['is of another client', { ...kim, client: 'ci' }, hello],
    ['is with another agent', { ...kim, agent: 'gardener' }, hello],
  ])('begins another conversation when it %s', (_, parties, earlier) => {
    expect(begun().find(parties, earlier, 'more')).toMatchObject({ conversation: 'new-2', isKnown: false });
  });

  test('with a regenerated answer begins another conversation, because the old one has moved on', () => {
    const conversations = begun();
    conversations.find(kim, hello, 'more').answered('Yes.');
    expect(conversations.find(kim, hello, 'more')).toMatchObject({ conversation: 'new-2', isKnown: false });
  });

  test('is recognised after a restart, even with a line that a crash cut', () => {
    begun();
    appendFileSync(join(folder, 'conversations.jsonl'), '["new-1","abc');
    expect(open().find(kim, hello, 'more')).toMatchObject({ conversation: 'new-1', isKnown: true });
  });

  test('is forgotten when it is old, and the file does not grow', () => {
    const conversations = open(10);
    for (let n = 0; n < 100; n++) conversations.find(kim, [], `hello ${n}`).answered('Hi.');
    const isKnown = (n: number, where = conversations) =>
      where.find(kim, [user(`hello ${n}`), assistant('Hi.')], 'more').isKnown;
    expect([isKnown(89), isKnown(90), isKnown(99)]).toEqual([false, true, true]);
    expect(isKnown(99, open(10))).toBe(true);
    expect(readFileSync(join(folder, 'conversations.jsonl'), 'utf8').trim().split('\n').length).toBeLessThanOrEqual(20);
  });
});

describe('a message', () => {
  test('is the same event when it is repeated: while it is answered, after a crash, and when its end is unknown', () => {
    const conversations = begun();
    const first = conversations.find(kim, hello, 'more');
    expect(first.id).toMatch(/^[0-9a-f]{32}$/);
    expect(conversations.find(kim, hello, 'more')).toMatchObject({ conversation: 'new-1', id: first.id });
    expect(open().find(kim, hello, 'more')).toMatchObject({ conversation: 'new-1', id: first.id });
    first.left();
    expect(conversations.find(kim, hello, 'more')).toMatchObject({ conversation: 'new-1', id: first.id });
  });

  test('is another event when it is repeated after its turn failed, in the same conversation', () => {
    const conversations = begun();
    const first = conversations.find(kim, hello, 'more');
    first.failed();
    const second = conversations.find(kim, hello, 'more');
    expect(second.conversation).toBe('new-1');
    expect(second.id).not.toBe(first.id);
    expect(open().find(kim, hello, 'more').id).toBe(second.id);
  });

  test('is another event after each failure, even if a client had answered a question in between', () => {
    const conversations = begun();
    const first = conversations.find(kim, hello, 'more');
    first.failed();
    conversations.resume(kim, { conversation: 'new-1', isNamed: false }, [...hello, user('more')]).failed();
    expect(conversations.find(kim, hello, 'more').id).not.toBe(first.id);
  });

  test('beside another one after the same transcript begins another conversation', () => {
    const conversations = begun();
    const one = conversations.find(kim, hello, 'one');
    const two = conversations.find(kim, hello, 'two');
    expect([one.conversation, two.conversation, two.isKnown]).toEqual(['new-1', 'new-2', false]);
    one.left();
    expect(conversations.find(kim, hello, 'three').conversation).toBe('new-1');
  });

  test('leaves no conversation to continue when its first turn failed', () => {
    const conversations = open();
    conversations.find(kim, [], 'hello').failed();
    expect(conversations.find(kim, hello, 'more').isKnown).toBe(false);
  });
});

describe('a conversation with a name', () => {
  test('is the one with that name, whatever transcript is sent', () => {
    const conversations = open();
    const first = conversations.find(kim, hello, 'more', 'thread-7');
    expect(first).toMatchObject({ conversation: 'thread-7', isKnown: false });
    expect(first.id).toBeUndefined();
    first.answered('Yes.');
    expect(conversations.find(kim, [], 'x', 'thread-7').isKnown).toBe(true);
    expect(open().find(kim, [], 'x', 'thread-7').isKnown).toBe(true);
  });

  test('is another one for another client', () => {
    const conversations = open();
    conversations.find(kim, [], 'x', 'thread-7').answered('Yes.');
    const other = conversations.find({ ...kim, client: 'ci' }, [], 'x', 'thread-7');
    expect(other).toMatchObject({ conversation: 'ci/thread-7', isKnown: false });
  });

  test('cannot be entered by another client, whatever name it gives', () => {
    const names = ['thread', 'ci/thread', 'two/thread', 'ci/two/thread', 'default/thread', '/thread'];
    const keys = ['default', 'ci', 'ci/two'].flatMap((client) => {
      const conversations = open();
      const own = names.map((name) => conversations.find({ ...kim, client }, [], 'x', name).conversation);
      // A client can also give the name of a key that it knows.
      return [...own, ...own.map((name) => conversations.find({ ...kim, client }, [], 'x', name).conversation)].map(
        (key) => ({ client, key }),
      );
    });
    const shared = keys.filter(({ client, key }) => keys.some((each) => each.key === key && each.client !== client));
    expect(shared).toEqual([]);
  });
});
