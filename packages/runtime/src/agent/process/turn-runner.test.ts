// Tests the order of turns and results, with an agent that ends its turns when the test says so.
import { expect, test } from 'bun:test';
import type { AgentEvent } from '@goondan/types';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { TurnOptions } from '../turn/run-turn.ts';
import type { TurnOutcome } from '../../ports/turn-outcome.ts';
import { systemClock } from '../../ports/clock.ts';
import type { AgentChannel } from './process-host.ts';
import { inputEvent } from '../../testing/input-event.ts';
import { TurnRunner, type TurnRunnerDeps } from './turn-runner.ts';

function open() {
  /** Everything that happens, in order. */
  const story: string[] = [];
  const turns = new Map<string, PromiseWithResolvers<TurnOutcome> & Pick<TurnOptions, 'signal' | 'waiting'>>();
  let writes = Promise.withResolvers<void>();
  let ended: Promise<void> = Promise.resolve();
  const channel = {
    async send(message: FromAgent) {
      const begins = message.type === 'turn.done' && message.begins !== undefined ? ` begins ${message.begins}` : '';
      const took = message.type === 'turn.done' && message.took !== undefined ? ` took ${message.took.join(' ')}` : '';
      story.push(`${message.type}${took}${begins}`);
      await writes.promise;
    },
  };
  const agent = {
    // Only the clock and the address are used.
    parts: { clock: systemClock, address: { instanceKey: 'default' } } as TurnRunnerDeps['agent']['parts'],
    handle(event: AgentEvent, { signal, isCancelled, waiting }: TurnOptions = {}) {
      const cancelled = isCancelled === true ? ' cancelled before' : ' cancelled';
      story.push(`handle ${event.id}${signal?.aborted === true ? cancelled : ''}`);
      const turn = { ...Promise.withResolvers<TurnOutcome>(), signal, waiting };
      turns.set(event.id, turn);
      return turn.promise;
    },
  };
  const runner = new TurnRunner({
    agent,
    // Only `send` is used.
    channel: channel as AgentChannel,
    observe: () => undefined,
    watch: { wrote: () => undefined, turnBegan: () => undefined, turnEnded: () => undefined },
    written: async () => undefined,
    onTurnEnded: () => ended,
    onLost: (eventId) => void story.push(`lost ${eventId}`),
  });
  return {
    story,
    runner,
    signalOf: (id: string) => turns.get(id)?.signal,
    /** Lets the turn of this event take everything that waits for it. */
    take: (id: string) => {
      const waiting = turns.get(id)?.waiting;
      for (const { event: taken } of waiting?.next() ?? []) waiting?.took(taken.id);
    },
    end: async (id: string) => {
      const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
      turns.get(id)?.resolve({ result: { turnId: id, finishReason: 'text_response' }, stepCount: 1, usage });
      await settle();
    },
    lose: async (id: string) => {
      turns.get(id)?.reject(new Error('no disk'));
      await settle();
    },
    /** Lets the operating system take everything that was sent so far. */
    write: async () => {
      writes.resolve();
      writes = Promise.withResolvers();
      await settle();
    },
    /** Lets everything that was sent so far fail. */
    failWrite: async () => {
      writes.reject(new Error('closed'));
      writes = Promise.withResolvers();
      await settle();
    },
    waitAfterTurn: (promise: Promise<void>) => {
      ended = promise;
    },
  };
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

const turn = (id: string) => ({ type: 'turn', event: inputEvent(id), seq: 1 }) as const;
const ahead = (id: string) => ({ type: 'turn.ahead', event: inputEvent(id), seq: 2 }) as const;

test('an event that was handed ahead begins when the result before it, which announces it, was written', async () => {
  const { story, runner, end, write } = open();
  runner.ask(turn('a'));
  runner.handAhead(ahead('b'));
  await settle();
  expect(story).toEqual(['handle a']);
  await end('a');
  expect(story).toEqual(['handle a', 'turn.done begins b']);
  expect(runner.isIdle).toBe(false);
  await write();
  expect(story).toEqual(['handle a', 'turn.done begins b', 'handle b']);
  await end('b');
  await write();
  expect(story.slice(3)).toEqual(['turn.done']);
  expect(runner.isIdle).toBe(true);
});

test('an event that was handed ahead after the result was sent begins once, with its own message', async () => {
  const { story, runner, end, write } = open();
  runner.ask(turn('a'));
  await end('a');
  runner.handAhead(ahead('b'));
  await write();
  expect(story).toEqual(['handle a', 'turn.done']);
  runner.ask(turn('b'));
  await end('b');
  await write();
  expect(story).toEqual(['handle a', 'turn.done', 'handle b', 'turn.done']);
});

test.each([
  ['before its announcement was cancelled before its turn', true, 'handle b cancelled before'],
  ['after its announcement was cancelled in its turn', false, 'handle b cancelled'],
])('an event that was handed ahead, and cancelled %s', async (_, isBefore, begun) => {
  const { story, runner, end, write, signalOf } = open();
  runner.ask(turn('a'));
  runner.handAhead(ahead('b'));
  if (isBefore) runner.cancel('b', 'gave up');
  expect(signalOf('a')?.aborted).toBe(false);
  await end('a');
  if (!isBefore) runner.cancel('b', 'gave up');
  await write();
  expect(story).toEqual(['handle a', 'turn.done begins b', begun]);
});

test('an event that was taken back does not begin', async () => {
  const { story, runner, end, write } = open();
  runner.ask(turn('a'));
  runner.handAhead(ahead('b'));
  await runner.takeBackAhead();
  await end('a');
  await write();
  expect(story).toEqual(['handle a', 'turn.done']);
  expect(runner.isIdle).toBe(true);
});

test('an event that was announced cannot be taken back: taking back waits until it begins', async () => {
  const { story, runner, end, write } = open();
  runner.ask(turn('a'));
  runner.handAhead(ahead('b'));
  await end('a');
  const taken = runner.takeBackAhead().then(() => story.push('taken back'));
  await settle();
  expect(story).toEqual(['handle a', 'turn.done begins b']);
  await write();
  await taken;
  expect(story.slice(2)).toEqual(['handle b', 'taken back']);
});

test('an event that was handed ahead does not begin after a lost turn', async () => {
  const { story, runner, lose } = open();
  runner.ask(turn('a'));
  runner.handAhead(ahead('b'));
  await lose('a');
  expect(story).toEqual(['handle a', 'lost a']);
  await runner.takeBackAhead();
  expect(runner.isIdle).toBe(true);
});

test('an event that was announced in a result that cannot be sent does not begin', async () => {
  const { story, runner, end, failWrite } = open();
  runner.ask(turn('a'));
  runner.handAhead(ahead('b'));
  await end('a');
  const taken = runner.takeBackAhead();
  await failWrite();
  await taken;
  expect(story).toEqual(['handle a', 'turn.done begins b', 'lost a']);
  expect(runner.isIdle).toBe(true);
});

test('between two turns, the work that waits for the end of a turn is done first', async () => {
  const { story, runner, end, write, waitAfterTurn } = open();
  const work = Promise.withResolvers<void>();
  waitAfterTurn(work.promise);
  runner.ask(turn('a'));
  runner.handAhead(ahead('b'));
  expect([runner.isBetweenTurns, runner.isIdle]).toEqual([false, false]);
  await end('a');
  await write();
  expect(story).toEqual(['handle a', 'turn.done begins b']);
  expect([runner.isBetweenTurns, runner.isIdle]).toEqual([true, false]);
  work.resolve();
  await settle();
  expect(story).toEqual(['handle a', 'turn.done begins b', 'handle b']);
});

test('Y-08 an event goes to the running turn, and the result says that the turn took it', async () => {
  const { story, runner, take, end, write } = open();
  runner.ask(turn('a'));
  runner.steer(ahead('n'));
  take('a');
  runner.steer(ahead('n'));
  runner.steer(ahead('m'));
  await end('a');
  await write();
  expect(story).toEqual(['handle a', 'turn.done took n']);
  // An event that was not taken is not kept for the next turn: it comes again.
  runner.ask(turn('b'));
  take('b');
  await end('b');
  expect(story.slice(2)).toEqual(['handle b', 'turn.done']);
});

test('Y-08 an event that comes while no turn runs is ignored', async () => {
  const { story, runner, take, end } = open();
  runner.steer(ahead('n'));
  runner.ask(turn('a'));
  take('a');
  await end('a');
  expect(story).toEqual(['handle a', 'turn.done']);
});

test('Y-08 a cancel of an event that the turn took ends the turn; before that, the turn does not get it', async () => {
  const { story, runner, take, end, signalOf } = open();
  runner.ask(turn('a'));
  for (const id of ['n', 'm']) runner.steer(ahead(id));
  runner.cancel('n', 'not this');
  take('a');
  expect(signalOf('a')?.aborted).toBe(false);
  runner.cancel('m', 'enough');
  expect(signalOf('a')?.reason).toMatchObject({ code: 'E_CANCELLED', message: 'The turn was cancelled: enough' });
  await end('a');
  expect(story).toEqual(['handle a', 'turn.done took m']);
});

test('Y-08 a cancel that came before the resumed turn reads that it took the event ends the turn', () => {
  const { runner, take, signalOf } = open();
  runner.cancel('n', 'enough');
  runner.ask(turn('a'));
  runner.steer(ahead('n'));
  take('a');
  expect(signalOf('a')?.aborted).toBe(true);
});

test('Y-08 an event that comes between a result and the turn that it announces goes to that turn', async () => {
  const { story, runner, end, write, take, waitAfterTurn } = open();
  const work = Promise.withResolvers<void>();
  waitAfterTurn(work.promise);
  runner.ask(turn('a'));
  runner.handAhead(ahead('b'));
  await end('a');
  for (const id of ['n', 'cancelled']) runner.steer(ahead(id));
  await write();
  runner.cancel('cancelled', 'not this');
  runner.steer(ahead('m'));
  work.resolve();
  await settle();
  take('b');
  await end('b');
  await write();
  expect(story.slice(1)).toEqual(['turn.done begins b', 'handle b', 'turn.done took n m']);
});

test('Y-08 an event that comes for an announced turn which does not begin goes to no other turn', async () => {
  const { story, runner, end, failWrite, write, take } = open();
  runner.ask(turn('a'));
  runner.handAhead(ahead('b'));
  await end('a');
  runner.steer(ahead('n'));
  await failWrite();
  runner.ask(turn('c'));
  take('c');
  await end('c');
  await write();
  expect(story.slice(2)).toEqual(['lost a', 'handle c', 'turn.done']);
});

test('Y-08 an event that a turn took is forgotten at its end: a later turn of the event runs normally', async () => {
  const { runner, take, end, write, signalOf } = open();
  runner.ask(turn('a'));
  runner.steer(ahead('n'));
  take('a');
  runner.cancel('n', 'enough');
  await end('a');
  await write();
  runner.ask(turn('n'));
  expect(signalOf('n')?.aborted).toBe(false);
});
