import { describe, expect, test } from 'bun:test';
import { PendingAnswers } from './pending-answers.ts';

describe('pending answers', () => {
  test('end once, each with its own answer', async () => {
    const pending = new PendingAnswers<number>();
    const [a, b] = [pending.wait('a'), pending.wait('b')];
    expect(pending.answer('b', 2)).toBe(true);
    expect(pending.answer('b', 3)).toBe(false);
    expect(pending.refuse('b', new Error('late'))).toBe(false);
    pending.refuse('a', new Error('no'));
    expect(await b).toBe(2);
    expect(await a.catch((error: unknown) => error)).toEqual(new Error('no'));
    expect(pending.size).toBe(0);
  });

  test('ignore an answer without a question', () => {
    expect(new PendingAnswers<number>().answer('toString', 1)).toBe(false);
  });

  test('reject the same id twice, and more than their limit', async () => {
    const pending = new PendingAnswers<number>(1);
    const first = pending.wait('a');
    expect(await pending.wait('a').catch((error: unknown) => error)).toMatchObject({ code: 'E_IPC_FRAME' });
    expect(await pending.wait('b').catch((error: unknown) => error)).toMatchObject({ code: 'E_IPC_FULL' });
    pending.answer('a', 1);
    expect(await first).toBe(1);
  });

  test('withdraw a question when its signal aborts, but not once it has its answer', async () => {
    const pending = new PendingAnswers<number>();
    const withdrawn: string[] = [];
    const ask = (id: string, signal: AbortSignal) =>
      pending.ask(
        id,
        () => Promise.resolve(),
        signal,
        async () => void withdrawn.push(id),
      );
    const [first, second] = [new AbortController(), new AbortController()];
    const [a, b] = [ask('a', first.signal), ask('b', second.signal).catch((error: unknown) => error)];
    pending.answer('a', 1);
    first.abort();
    second.abort(new Error('enough'));
    expect(await a).toBe(1);
    expect(await b).toEqual(new Error('enough'));
    expect(withdrawn).toEqual(['b']);
  });

  test('all end when the channel does', async () => {
    const pending = new PendingAnswers<number>();
    const waits = ['a', 'b'].map((id) => pending.wait(id).catch((error: unknown) => error));
    pending.refuseAll(new Error('gone'));
    expect(await Promise.all(waits)).toEqual([new Error('gone'), new Error('gone')]);
  });
});
