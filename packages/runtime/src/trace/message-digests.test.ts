import { describe, expect, test } from 'bun:test';
import type { ModelMessage } from '@goondan/types';
import { sha256 } from '../json/sha256.ts';
import { MessageDigests } from './message-digests.ts';

const says = (content: string): ModelMessage => Object.freeze({ role: 'user', content });

function counting() {
  const digested: unknown[] = [];
  const digests = new MessageDigests((message) => {
    digested.push(message.content);
    return sha256(JSON.stringify(message));
  });
  return { digests, digested };
}

const plain = (messages: readonly ModelMessage[]) =>
  sha256(messages.map((message) => sha256(JSON.stringify(message))).join(''));

describe('the digests of requests', () => {
  test('look only at the messages that a request adds to the last one of its asker', () => {
    const { digests, digested } = counting();
    const first = [says('a'), says('b')];
    const second = [...first, says('c')];
    expect(digests.of(undefined, first).digest).toBe(plain(first));
    expect(digests.of('summary', [says('x')]).digest).toBe(plain([says('x')]));
    expect(digests.of(undefined, second).digest).toBe(plain(second));
    expect(digests.of(undefined, second).digests).toEqual(second.map((message) => sha256(JSON.stringify(message))));
    expect(digested).toEqual(['a', 'b', 'x', 'c']);
  });

  test('are right when messages were removed, replaced or added in front', () => {
    const { digests } = counting();
    const [a, b, c] = [says('a'), says('b'), says('c')];
    for (const messages of [[a, b, c], [a, b], [b, c], [a, c, b], [], [c, a, b], [c, a, b, b]]) {
      expect(digests.of(undefined, messages).digest).toBe(plain(messages));
    }
  });

  test('have the runs of messages that are in the conversation, and look up the id of each message once', () => {
    const { digests } = counting();
    const lookedUp: unknown[] = [];
    const idOf = (message: ModelMessage) => {
      lookedUp.push(message.content);
      return message.content === 'x' ? undefined : `id-${message.content as string}`;
    };
    const order = ['id-a', 'id-b', 'id-c', 'id-d'];
    const follows = (id: string, other: string) => order.indexOf(id) === order.indexOf(other) + 1;
    const [a, b, x, c, d] = [says('a'), says('b'), says('x'), says('c'), says('d')];
    const runOf = (start: number, ...messages: readonly ModelMessage[]) => ({
      start,
      count: messages.length,
      id: `id-${messages[0]?.content as string}`,
      to: `id-${messages.at(-1)?.content as string}`,
      digest: plain(messages),
    });
    const runsOf = (...messages: readonly ModelMessage[]) =>
      digests.of(undefined, messages, idOf, follows).runs.map(({ start, count, id, to, digest }) => ({
        start,
        count,
        id,
        to,
        digest,
      }));
    expect(runsOf(x, a, b)).toEqual([runOf(1, a, b)]);
    expect(runsOf(x, a, b, c, x, d)).toEqual([runOf(1, a, b, c), runOf(5, d)]);
    expect(lookedUp).toEqual(['x', 'a', 'b', 'c', 'x', 'd']);
    // A run has no gaps, so its messages are known from its ends.
    expect(runsOf(a, c, d)).toEqual([runOf(0, a), runOf(1, c, d)]);
    expect(runsOf(b, a)).toEqual([runOf(0, b), runOf(1, a)]);
  });
});
