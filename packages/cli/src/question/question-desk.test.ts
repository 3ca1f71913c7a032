import { describe, expect, test } from 'bun:test';
import type { QuestionReply, QuestionSummary, SwarmNotice } from '@goondan/runtime';
import type { QuestionNotice } from '@goondan/runtime/control';
import { typedWatch } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { fakeQuestion } from '../../../runtime/src/testing/fake-control.ts';
import { QuestionDesk } from './question-desk.ts';
import type { PersonAnswer } from './person-answer.ts';

function call(id: string, agent = 'helper'): QuestionSummary {
  return { ...fakeQuestion, id, agent };
}

async function open(
  pending: readonly QuestionSummary[],
  concerns: (question: QuestionSummary) => boolean = () => true,
  endsMeanwhile: readonly QuestionSummary[] = [],
) {
  const asked: { readonly id: string; readonly signal: AbortSignal; answer(answer?: PersonAnswer): void }[] = [];
  const given: string[] = [];
  const told: string[] = [];
  let hear: (notice: SwarmNotice) => void = () => undefined;
  let isWatching = false;
  const world = { fails: undefined as Error | undefined };
  const tell = (state: QuestionNotice['state'], question: QuestionSummary, outcome?: QuestionNotice['outcome']) =>
    hear({
      type: 'question',
      state,
      at: { agent: question.agent, instanceKey: question.instanceKey },
      question,
      ...(outcome === undefined ? {} : { outcome }),
    });
  const answer = async ({ id, decision, note, always, digest, via }: QuestionReply) => {
    if (world.fails !== undefined) throw world.fails;
    if (digest !== fakeQuestion.digest || via !== 'cli') throw new Error('not the question that was shown');
    given.push([decision, id, note, always].filter((part) => part !== undefined).join(' '));
    // As in a real swarm, watchers get the notice before the call that answers the question returns.
    tell('decided', call(id), { decision, by: 'me' });
  };
  const desk = await QuestionDesk.open({
    swarm: {
      async questions() {
        for (const question of endsMeanwhile) tell('decided', question, { decision: 'approved', by: 'ann' });
        return pending;
      },
      answer,
      watch: typedWatch(async (_, listener) => {
        hear = listener;
        isWatching = true;
        return { end: () => void (isWatching = false), ended: Promise.resolve() };
      }),
    },
    concerns,
    ask: ({ id }, signal) => {
      const { promise, resolve } = Promise.withResolvers<PersonAnswer | undefined>();
      asked.push({ id, signal, answer: resolve });
      signal.addEventListener('abort', () => resolve(undefined));
      return promise;
    },
    nameOfPerson: () => 'me',
    via: 'cli',
    tell: (text) => told.push(text),
  });
  return { desk, asked, given, told, world, tell, ids: () => asked.map(({ id }) => id), isWatching: () => isWatching };
}

const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

describe('the desk of a person at a terminal', () => {
  test('asks about waiting calls one after the other, then about new ones', async () => {
    const { asked, given, tell, ids } = await open([call('one'), call('two')]);
    tell('asked', call('three'));
    expect(ids()).toEqual(['one']);
    asked[0]?.answer({ decision: 'approved' });
    await settle();
    asked[1]?.answer({ decision: 'denied', note: 'Not today.' });
    await settle();
    expect(ids()).toEqual(['one', 'two', 'three']);
    expect(given).toEqual(['approved one', 'denied two Not today.']);
  });

  test('N-04 asks nothing about a question that ended while the list was on its way', async () => {
    const { desk, ids, told } = await open([call('one'), call('two')], () => true, [call('one')]);
    expect([ids(), told, desk.askAgain()]).toEqual([['two'], [], 1]);
  });

  test('does not ask about calls of others, until they concern the person', async () => {
    let whose = 'helper';
    const { desk, asked, ids } = await open([call('one', 'other'), call('two')], ({ agent }) => agent === whose);
    expect(ids()).toEqual(['two']);
    asked[0]?.answer({ decision: 'approved' });
    await settle();
    expect(ids()).toEqual(['two']);
    whose = 'other';
    desk.look();
    expect(ids()).toEqual(['two', 'one']);
  });

  test('withdraws a question that was answered elsewhere or ended, and says so', async () => {
    const { asked, given, told, tell, ids } = await open(['one', 'two', 'three', 'four'].map((id) => call(id)));
    tell('withdrawn', call('two'));
    tell('decided', call('one'), { decision: 'denied', by: 'ann', via: 'studio' });
    await settle();
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(ids()).toEqual(['one', 'three']);
    tell('withdrawn', call('three'));
    await settle();
    tell('decided', call('four'), { decision: 'expired' });
    await settle();
    expect(told).toEqual([
      'one no longer needs an answer: denied by ann via studio.',
      'three no longer needs an answer: its turn is over.',
      'four no longer needs an answer: expired.',
    ]);
    expect(given).toEqual([]);
  });

  test('N-04 the name of a person from elsewhere prints no line of its own', async () => {
    const { told, tell } = await open([call('one')]);
    tell('decided', call('one'), { decision: 'denied', by: 'ann\nsecond line' });
    expect(told).toEqual(['one no longer needs an answer: denied by ann\\u000asecond line.']);
  });

  test('says only what its own answer always allows, and does not repeat a question left open', async () => {
    const { desk, asked, given, told, ids } = await open([call('one'), call('two')]);
    asked[0]?.answer({ decision: 'approved', always: 'tool' });
    await settle();
    asked[1]?.answer(undefined);
    await settle();
    desk.look();
    expect([ids(), given]).toEqual([['one', 'two'], ['approved one tool']]);
    expect(told).toEqual([expect.stringMatching(/^one: every call of bash__exec, with any arguments, runs without/)]);
  });

  test('N-04 asks again about the questions that the person left open, if they still wait and concern the person', async () => {
    let whose = 'helper';
    const waiting = [call('one'), call('two'), call('three'), call('four', 'other')];
    const { desk, asked, given, ids, tell } = await open(waiting, ({ agent }) => agent === whose);
    for (const at of [0, 1, 2]) {
      asked[at]?.answer(undefined);
      await settle();
    }
    tell('withdrawn', call('two'));
    expect(desk.askAgain()).toBe(2);
    // The question that is open now is not asked twice.
    expect(desk.askAgain()).toBe(2);
    asked[3]?.answer({ decision: 'approved' });
    await settle();
    asked[4]?.answer(undefined);
    await settle();
    expect([ids(), given]).toEqual([['one', 'two', 'three', 'one', 'three'], ['approved one']]);
    // A question that is left open, while it is asked again, is not asked a third time.
    expect(desk.askAgain()).toBe(1);
    desk.askAgain();
    asked[5]?.answer(undefined);
    await settle();
    expect(ids().slice(5)).toEqual(['three']);
    whose = 'nobody';
    expect(desk.askAgain()).toBe(0);
  });

  test('reports an answer that did not count', async () => {
    const { asked, told, world } = await open([call('one'), call('two')]);
    world.fails = new GoondanError('E_QUESTION_ENDED', 'It was answered by ann already.');
    asked[0]?.answer({ decision: 'approved' });
    await settle();
    world.fails = new GoondanError('E_CONTROL_CLOSED', 'It is gone.');
    asked[1]?.answer({ decision: 'approved' });
    await settle();
    expect(told).toEqual([
      'one is not answered. E_QUESTION_ENDED: It was answered by ann already.',
      'two is not answered. E_CONTROL_CLOSED: It is gone.',
    ]);
  });

  test('asks again if the answer does not fit', async () => {
    const { asked, given, told, world, ids } = await open([call('one')]);
    world.fails = new GoondanError('E_QUESTION_REPLY', 'It does not fit.');
    asked[0]?.answer({ decision: 'approved', args: {} });
    await settle();
    world.fails = undefined;
    asked[1]?.answer({ decision: 'approved' });
    await settle();
    expect([ids(), given, told]).toEqual([
      ['one', 'one'],
      ['approved one'],
      ['one is not answered. E_QUESTION_REPLY: It does not fit.'],
    ]);
  });

  test('asks nothing any more after it was closed', async () => {
    const { desk, asked, given, tell, ids, isWatching } = await open([call('one')]);
    expect(desk.isAsking).toBe(true);
    desk.close();
    asked[0]?.answer({ decision: 'approved' });
    await settle();
    tell('asked', call('two'));
    expect([ids(), given, isWatching(), desk.isAsking]).toEqual([['one'], [], false, false]);
  });
});
