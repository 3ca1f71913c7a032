import { describe, expect, test } from 'bun:test';
import { Activity } from './activity.ts';

/**
 * Creates an activity and a caller that waits to leave the turn. `left` gets an entry each time the caller could leave.
 */
function open(flush: () => Promise<void> = () => Promise.resolve()) {
  const activity = new Activity();
  activity.begin({ flush });
  const left: string[] = [];
  void activity.leave(() => left.push('left'));
  return { activity, left };
}

function pending() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { wait: () => promise, end: resolve };
}

const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

describe('a turn can be left', () => {
  test('when it waits for a person and does nothing else', async () => {
    const { activity, left } = open();
    const [question, effect] = [pending(), pending()];
    void activity.effect(effect.wait);
    void activity.question(question.wait);
    await settle();
    expect([activity.isResting, left]).toEqual([false, []]);
    effect.end();
    await settle();
    expect([activity.isResting, left]).toEqual([true, ['left']]);
    question.end();
    await settle();
    expect(activity.isResting).toBe(false);
  });

  test('when it is held, and its only effect is a repeatable request to another agent', async () => {
    const { activity, left } = open();
    const request = pending();
    void activity.effect(() => activity.aside({}, request.wait));
    await settle();
    expect(left).toEqual([]);
    activity.hold(true);
    await settle();
    expect(left).toEqual(['left']);
    request.end();
    await settle();
    activity.end();
    expect(activity.isResting).toBe(false);
  });

  test('not when an answer comes while its records go to disk, but at the next question', async () => {
    const disk = pending();
    const { activity, left } = open(disk.wait);
    const [first, second] = [pending(), pending()];
    void activity.question(first.wait);
    await settle();
    first.end();
    await settle();
    disk.end();
    await settle();
    expect(left).toEqual([]);
    void activity.question(second.wait);
    await settle();
    expect(left).toEqual(['left']);
    second.end();
  });

  test('not when its records cannot be written', async () => {
    const { activity, left } = open(() => Promise.reject(new Error('full')));
    const question = pending();
    void activity.question(question.wait);
    await settle();
    expect(left).toEqual([]);
    question.end();
  });
});

test('N-04 an effect that has its answer is not ended with those that wait for a person now or later', async () => {
  const { activity } = open();
  const [answered, waiting] = [pending(), pending()];
  const ended: string[] = [];
  const first = activity.endable(answered.wait, () => void ended.push('answered'));
  void activity.endable(waiting.wait, () => void ended.push('waiting'));
  answered.end();
  await first;
  activity.endWaits();
  void activity.endable(waiting.wait, () => void ended.push('later'));
  expect(ended).toEqual(['waiting', 'later']);
});
