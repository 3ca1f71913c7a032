import { describe, expect, test } from 'bun:test';
import type { AskOptions, Delivery, LogLine, SwarmNotice, TurnEnd } from '@goondan/runtime';
import { typedAsk } from '@goondan/runtime/internal';
import { manualClock } from '@goondan/runtime/testing';
import { createAssistantMessage, GoondanError, type TurnResult } from '@goondan/types';
import { Chat, type ChatDeps } from './chat.ts';
import type { ChatScreen, ScreenHooks } from './screen/chat-screen.ts';
import { type Line, line } from './screen/line.ts';

const at = { agent: 'host', instanceKey: 'default' };
const textOfLine = (each: Line) => each.map(({ text }) => text).join('');

class FakeScreen implements ChatScreen {
  readonly printed: string[] = [];
  readonly columns = 80;
  draft = '';
  isClosed = false;
  constructor(readonly hooks: ScreenHooks) {}
  open(): void {}
  print(lines: readonly Line[]): void {
    this.printed.push(...lines.map(textOfLine));
  }
  printSent(text: string): void {
    this.printed.push(`> ${text}`);
  }
  refresh(): void {}
  setDraft(text: string): void {
    this.draft = text;
  }
  offer(text: string): void {
    this.draft = text;
  }
  clearDraft(): void {
    this.draft = '';
  }
  setHistory(): void {}
  close(): void {
    this.isClosed = true;
  }
  get live(): string[] {
    const { lines, hint } = this.hooks.live();
    return [...lines, ...(hint === undefined ? [] : [hint])].map(textOfLine);
  }
}

interface Asked {
  readonly delivery: Delivery;
  readonly options: AskOptions;
  accept(): void;
  say(text: string): void;
  tell(name: string, payload: Record<string, string | number>, agent?: string): SwarmNotice;
  end(result?: Partial<TurnResult>): Promise<void>;
  fail(error: Error): Promise<void>;
}

function open(runCommand?: ChatDeps['runCommand']) {
  const asked: Asked[] = [];
  const delivered: Delivery[] = [];
  const clock = manualClock();
  const commands: string[] = [];
  let screen: FakeScreen | undefined;
  const deps: ChatDeps = {
    clock,
    openScreen: (hooks) => (screen = new FakeScreen(hooks)),
    runCommand:
      runCommand ??
      (async ({ name }) => {
        if (name === 'status') throw new GoondanError('E_SWARM_STOPPED', 'It is gone.');
        commands.push(name);
      }),
    complete: () => undefined,
    costOf: async () => undefined,
    swarm: {
      ask: typedAsk((delivery, options = {}) => {
        const { promise, resolve, reject } = Promise.withResolvers<TurnEnd>();
        asked.push(turnOf(delivery, options, resolve, reject, () => clock.advance(0)));
        return promise;
      }),
      deliver: async (delivery) => {
        if (delivery.input === 'refused') throw new GoondanError('E_INBOX_FULL', 'It is full.');
        delivered.push(delivery);
        const { id = '', traceId = '' } = delivery;
        return { accepted: true, eventId: id, turnId: `turn-${id}`, traceId, duplicate: false, ...at };
      },
    },
  };
  const chat = new Chat(at, deps);
  if (screen === undefined) throw new Error('There is no screen.');
  const { hooks } = screen;
  const turn = (index: number) => {
    const found = asked[index];
    if (found === undefined) throw new Error(`Turn ${index} was not asked for.`);
    return found;
  };
  return { chat, screen, hooks, asked, delivered, turn, clock, commands };
}

function turnOf(
  delivery: Delivery,
  options: AskOptions,
  resolve: (end: TurnEnd) => void,
  reject: (error: Error) => void,
  settle: () => Promise<void>,
): Asked {
  const step = { turnId: 'turn-e', stepId: 'step-0', stepIndex: 0 };
  return {
    delivery,
    options,
    accept: () =>
      options.onAccepted?.({
        accepted: true,
        eventId: 'e',
        agent: 'host',
        instanceKey: 'default',
        turnId: 'turn-e',
        traceId: delivery.traceId ?? '',
        duplicate: false,
      }),
    say: (text) => options.onNotice?.({ type: 'delta', at, eventId: 'e', delta: { type: 'text', text, ...step } }),
    tell(name, payload, agent = 'host') {
      const notice: SwarmNotice = {
        type: 'runtime.event',
        at: { ...at, agent },
        name,
        payload: { traceId: delivery.traceId ?? '', ...payload },
      };
      if (agent === 'host') options.onNotice?.(notice);
      return notice;
    },
    async end(result = {}) {
      const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
      const full: TurnResult = { turnId: 'turn-e', finishReason: 'text_response', ...result };
      resolve({ agent: 'host', instanceKey: 'default', eventId: 'e', traceId: '', result: full, stepCount: 1, usage });
      await settle();
    },
    async fail(error) {
      reject(error);
      await settle();
    },
  };
}

function hasEnded(chat: Chat): Promise<boolean> {
  const later = new Promise<boolean>((resolve) => void setImmediate(() => resolve(false)));
  return Promise.race([chat.ended.then(() => true), later]);
}

const answer = (text: string) => ({ responseMessage: createAssistantMessage(text) });
const earlier = (input: string) => ({ id: `event-${input}`, traceId: `trace-${input}`, input });
const cancelled: Partial<TurnResult> = {
  finishReason: 'error',
  error: { code: 'E_CANCELLED', message: 'The turn was cancelled.' },
};

describe('a message', () => {
  test('starts a turn of this agent and conversation; the answer streams', async () => {
    const { screen, hooks, turn } = open();
    hooks.sent('Hello');
    expect(turn(0).delivery).toMatchObject({ agent: 'host', instanceKey: 'default', input: 'Hello' });
    turn(0).say('Good ');
    turn(0).say('morning');
    expect(screen.live[0]).toBe('Good morning');
    await turn(0).end(answer('Good morning'));
    expect(screen.printed).toEqual(['> Hello', 'Good morning', '']);
    expect(screen.live).toEqual([]);
  });

  test('sent during a turn waits for its end', async () => {
    const { screen, hooks, asked, turn } = open();
    hooks.sent('one');
    hooks.sent('two');
    expect(asked).toHaveLength(1);
    expect(screen.live.at(-1)).toBe('waiting: two');
    await turn(0).end(answer('1'));
    expect(turn(1).delivery.input).toBe('two');
    expect(screen.printed).toEqual(['> one', '1', '', '> two']);
  });

  test('over the limit of waiting messages stays in the line', () => {
    const { screen, hooks } = open();
    for (let count = 0; count <= 101; count += 1) hooks.sent(`message ${count}`);
    expect(screen.printed.at(-1)).toContain('100 messages are already queued');
    expect(screen.draft).toBe('message 101');
  });

  test('comes back into the line when the swarm refuses it', async () => {
    const { screen, hooks, turn } = open();
    hooks.sent('precious');
    await turn(0).fail(new GoondanError('E_INBOX_FULL', 'Too much.', { suggestion: 'Wait.' }));
    expect(screen.printed).toEqual(['> precious', 'E_INBOX_FULL: Too much.', 'Wait.', '']);
    expect(screen.draft).toBe('precious');
  });

  test('does not come back once it was accepted, whatever its outcome', async () => {
    const { screen, hooks, turn } = open();
    hooks.sent('taken');
    turn(0).accept();
    await turn(0).fail(new GoondanError('E_SWARM_STOPPED', 'It is gone.'));
    expect(screen.draft).toBe('');
  });

  test('with a failing turn shows code and suggestion, and the chat continues', async () => {
    const { screen, hooks, turn, asked } = open();
    hooks.sent('Hello');
    await turn(0).end({
      finishReason: 'error',
      error: { code: 'E_MODEL_AUTH', message: 'No.', suggestion: 'Set it.' },
    });
    expect(screen.printed).toEqual([
      ...['> Hello', 'E_MODEL_AUTH: No.', 'Set it.'],
      ...['The model sees this message with your next one. /new begins an empty conversation.', ''],
    ]);
    hooks.sent('again');
    expect(asked).toHaveLength(2);
  });

  test('waits for the turns of earlier inputs, which are shown under their own ids', async () => {
    const { chat, screen, hooks, turn, asked } = open();
    chat.resume(['one', 'two'].map(earlier));
    hooks.sent('three');
    expect(turn(0).delivery).toMatchObject({ input: 'one', id: 'event-one', traceId: 'trace-one' });
    expect(screen.live.slice(-2)).toEqual(['waiting: two', 'waiting: three']);
    // Ctrl-C brings back only messages that the swarm has not accepted.
    hooks.interrupt();
    expect(screen.draft).toBe('three');
    await turn(0).end(cancelled);
    await turn(1).end(answer('2'));
    expect(screen.printed).toEqual(['> one', 'Cancelled.', '', '> two', '2', '']);
    expect(asked).toHaveLength(2);
  });

  test('is sent after the last of the earlier inputs', async () => {
    const { chat, hooks, turn, asked } = open();
    chat.resume(['one', 'two'].map(earlier));
    hooks.sent('three');
    await turn(0).end(answer('1'));
    await turn(1).end(answer('2'));
    expect(asked.map(({ delivery }) => delivery.input)).toEqual(['one', 'two', 'three']);
  });

  test('that is being answered ends before the turns of earlier inputs begin', async () => {
    const { chat, hooks, turn, asked } = open();
    hooks.sent('Hello');
    chat.resume([earlier('one')]);
    expect(asked).toHaveLength(1);
    await turn(0).end(answer('Hi.'));
    expect(turn(1).delivery).toMatchObject({ id: 'event-one' });
  });

  test('of earlier does not come back into the line: the swarm has it', async () => {
    const { chat, screen, turn } = open();
    chat.resume([earlier('one')]);
    await turn(0).fail(new GoondanError('E_SWARM_STOPPED', 'It is gone.'));
    expect(screen.draft).toBe('');
  });

  test('of earlier is shown only if it is one of the first 100', () => {
    const { chat, screen } = open();
    chat.resume(Array.from({ length: 150 }, (_, index) => earlier(`message ${index}`)));
    expect(screen.live.at(-1)).toBe('waiting: message 99');
  });

  test('whose turn continues at the next start is not an error when the person has left', async () => {
    const { screen, hooks, turn } = open();
    hooks.sent('Hello');
    turn(0).accept();
    hooks.leave();
    await turn(0).fail(new GoondanError('E_SWARM_STOPPED', 'It is gone.'));
    expect(screen.printed).toEqual(['> Hello', 'The turn is not over: it continues when you run the swarm again.']);
  });

  test.each([
    ['the swarm was stopped elsewhere', 'stopped', new GoondanError('E_SWARM_STOPPED', 'It is gone.')],
    ['the turn fails for another reason', 'left', new GoondanError('E_INBOX_FULL', 'Too much.')],
  ] as const)('is an error after the end of the chat when %s', async (_title, how, error) => {
    const { chat, screen, hooks, turn } = open();
    hooks.sent('Hello');
    turn(0).accept();
    chat.leave(how);
    await turn(0).fail(error);
    expect(screen.printed.slice(0, 2)).toEqual(['> Hello', `${error.code}: ${error.message}`]);
  });

  test('is not sent when it is blank', () => {
    const { hooks, asked } = open();
    hooks.sent('  ');
    expect(asked).toEqual([]);
  });
});

describe('the activity of other agents', () => {
  test('is shown only when this turn caused it', async () => {
    const { chat, screen, hooks, turn } = open();
    hooks.sent('Hello');
    const called = { spanId: 'b', toolName: 'notes__save', args: '{}' };
    chat.hear(turn(0).tell('turn.started', { spanId: 'a' }, 'helper'));
    chat.hear(turn(0).tell('tool.called', called, 'helper'));
    chat.hear(turn(0).tell('tool.called', { ...called, spanId: 'c', traceId: 'another' }, 'stranger'));
    expect(screen.live.slice(0, -1)).toEqual(['  … helper 0 s', '  … helper · notes__save 0 s']);
    chat.hear(turn(0).tell('tool.completed', { ...called, status: 'ok', duration: 12 }, 'helper'));
    chat.hear(turn(0).tell('turn.completed', { spanId: 'a', duration: 1_234 }, 'helper'));
    expect(screen.printed).toEqual(['> Hello', '  ✓ helper · notes__save ok, 12 ms', '  ✓ helper ok, 1.2 s']);
  });
});

describe('Ctrl-C', () => {
  test('during a turn cancels it, and the chat continues', async () => {
    const { chat, screen, hooks, turn, asked } = open();
    hooks.sent('Hello');
    turn(0).say('Good mor');
    hooks.interrupt();
    expect(turn(0).options.signal?.aborted).toBe(true);
    expect(screen.live.at(-1)).toContain('is being cancelled');
    await turn(0).end(cancelled);
    expect(screen.printed).toEqual(['> Hello', 'Good mor', 'Cancelled.', '']);
    hooks.sent('again');
    expect(asked).toHaveLength(2);
    expect(await hasEnded(chat)).toBe(false);
  });

  test('during a turn brings waiting messages back, above the unsent text', () => {
    const { screen, hooks } = open();
    hooks.sent('one');
    hooks.sent('two');
    screen.setDraft('three');
    hooks.interrupt();
    expect(screen.draft).toBe('two\nthree');
    expect(screen.live).toHaveLength(1);
  });

  test('a second time during a turn quits: interrupted', async () => {
    const { chat, hooks } = open();
    hooks.sent('Hello');
    hooks.interrupt();
    hooks.interrupt();
    expect(await chat.ended).toBe('interrupted');
  });

  test('Ctrl-\\ cancels the turn and quits without waiting for its end', async () => {
    const { chat, hooks, asked } = open();
    hooks.sent('Hello');
    hooks.quit();
    expect(asked[0]?.options.signal?.aborted).toBe(true);
    expect(await chat.ended).toBe('quit');
  });

  test('first empties the line, then warns that the next one quits, then quits', async () => {
    const { chat, screen, hooks } = open();
    screen.setDraft('draft');
    hooks.interrupt();
    expect(screen.draft).toBe('');
    expect(screen.live).toEqual([]);
    hooks.interrupt();
    expect(screen.live).toEqual(['Ctrl-C again to quit.']);
    hooks.interrupt();
    expect(await chat.ended).toBe('left');
  });

  test('pressed twice with a pause does not quit', async () => {
    const { chat, screen, hooks, clock } = open();
    hooks.interrupt();
    await clock.advance(2_000);
    expect(screen.live).toEqual([]);
    hooks.interrupt();
    expect(screen.live).toEqual(['Ctrl-C again to quit.']);
    expect(await hasEnded(chat)).toBe(false);
  });
});

describe('commands', () => {
  test('are not sent to the agent; a mistyped one is reported', () => {
    const { screen, hooks, asked, commands } = open();
    hooks.sent('/help');
    hooks.sent('/hlep');
    expect(commands).toEqual(['help']);
    expect(screen.printed).toEqual(['There is no /hlep. Did you mean /help? To send it as a message, begin with //.']);
    expect(asked).toEqual([]);
  });

  test('are reported when they fail, and the chat continues', async () => {
    const { chat, screen, hooks, clock } = open();
    hooks.sent('/status');
    await clock.advance(0);
    expect(screen.printed[0]).toBe('E_SWARM_STOPPED: It is gone.');
    expect(await hasEnded(chat)).toBe(false);
  });

  test('wait in the line for the end of the turn when they change the agent or conversation', () => {
    const { screen, hooks, commands } = open();
    hooks.sent('Hello');
    hooks.sent('/new other', 'now');
    expect(commands).toEqual([]);
    expect(screen.draft).toBe('/new other');
  });

  test('Y-08 that may come from a file keep their place behind the messages before them', async () => {
    const { chat, screen, hooks, asked, turn, commands } = open();
    hooks.sent('one');
    hooks.sent('two');
    hooks.sent('/new other');
    hooks.sent('//three');
    hooks.sent('/help');
    hooks.sent('/exit');
    expect([commands, await hasEnded(chat), screen.draft]).toEqual([['help'], false, '']);
    await turn(0).end(answer('1'));
    await turn(1).end(answer('2'));
    expect(commands).toEqual(['help', 'new']);
    expect(turn(2).delivery.input).toBe('/three');
    expect(await hasEnded(chat)).toBe(false);
    await turn(2).end(answer('3'));
    expect(await chat.ended).toBe('left');
    expect(asked).toHaveLength(3);
  });

  test('Y-08 the end of the file comes after its messages, but not after a question that nobody can answer', async () => {
    const { chat, hooks, turn } = open();
    hooks.sent('one');
    hooks.sent('two');
    hooks.ended();
    await turn(0).end(answer('1'));
    expect(await hasEnded(chat)).toBe(false);
    await turn(1).end(answer('2'));
    expect(await chat.ended).toBe('left');

    const asking = open();
    asking.hooks.sent('one');
    asking.hooks.ended();
    expect(await hasEnded(asking.chat)).toBe(false);
    void asking.chat.ask([line('Allow it?')], '? ');
    expect(await asking.chat.ended).toBe('left');

    const idle = open();
    idle.hooks.ended();
    expect(await idle.chat.ended).toBe('left');
  });

  test('Y-08 that open another conversation come before the lines and the end of the file after them', async () => {
    const opened = Promise.withResolvers<void>();
    const { chat, hooks, asked, turn, clock, commands } = open(async ({ name }, { at: { agent } }) => {
      commands.push(`${name} ${agent}`);
      if (name !== 'agent') return;
      await opened.promise;
      chat.at = { ...at, agent: 'other' };
      chat.resume([]);
    });
    hooks.sent('/agent other');
    hooks.sent('/history');
    hooks.sent('hello');
    hooks.ended();
    await clock.advance(0);
    expect([commands, asked.length]).toEqual([['agent host'], 0]);
    opened.resolve();
    await clock.advance(0);
    expect(commands).toEqual(['agent host', 'history other']);
    expect(turn(0).delivery).toMatchObject({ agent: 'other', input: 'hello' });
    await turn(0).end();
    expect(await chat.ended).toBe('left');
  });

  test('/quit leaves', async () => {
    const { chat, hooks } = open();
    hooks.sent('/quit');
    expect(await chat.ended).toBe('left');
  });
});

describe('a question', () => {
  test('puts the unsent text aside; the next line is the answer, not a message', async () => {
    const { chat, screen, hooks, asked } = open();
    screen.setDraft('draft');
    const answered = chat.ask([line('May it?')], '[y/N] ');
    expect(screen.printed).toEqual(['May it?']);
    expect([screen.draft, hooks.live().label]).toEqual(['', '[y/N] ']);
    hooks.sent('y');
    expect(await answered).toBe('y');
    expect([screen.draft, hooks.live().label]).toEqual(['draft', '> ']);
    expect(asked).toEqual([]);
  });

  test('offers a text to edit, and brings the unsent text back', async () => {
    const { chat, screen, hooks } = open();
    hooks.sent('hello');
    screen.setDraft('draft');
    const edited = chat.ask([], 'Arguments: ', undefined, '{\n}');
    expect(screen.draft).toBe('{\n}');
    expect(screen.live.at(-1)).toContain('Ctrl-C leaves the question open');
    hooks.sent('{ "a": 1 }');
    expect([await edited, screen.draft]).toEqual(['{ "a": 1 }', 'draft']);
  });

  test('is not asked while another one is open; Enter alone is an answer, Ctrl-C is not', async () => {
    const { chat, screen, hooks } = open();
    const first = chat.ask([line('first')], '? ');
    expect(await chat.ask([line('second')], '? ')).toBeUndefined();
    hooks.sent('');
    const third = chat.ask([line('third')], '? ');
    hooks.interrupt();
    expect([await first, await third, screen.printed]).toEqual(['', undefined, ['first', 'third']]);
  });

  test('disappears when it needs no answer any more, and takes no other question with it', async () => {
    const { chat, screen, hooks } = open();
    const over = new AbortController();
    screen.setDraft('draft');
    expect(await chat.ask([line('none')], '? ', AbortSignal.abort())).toBeUndefined();
    const first = chat.ask([line('first')], '? ', over.signal);
    over.abort();
    expect(await first).toBeUndefined();
    expect([screen.printed, screen.draft, hooks.live().label]).toEqual([['first'], 'draft', '> ']);
    const answered = new AbortController();
    const second = chat.ask([line('second')], '? ', answered.signal);
    hooks.sent('y');
    const third = chat.ask([line('third')], '# ');
    answered.abort();
    expect([await second, hooks.live().label]).toEqual(['y', '# ']);
    hooks.sent('n');
    expect(await third).toBe('n');
  });

  test('without an answer before the end of the chat stays unanswered', async () => {
    const { chat, screen } = open();
    screen.setDraft('draft');
    const answered = chat.ask([line('first')], '? ');
    chat.close();
    expect(await answered).toBeUndefined();
    expect(screen.printed).toEqual(['first', 'Not sent:', 'draft']);
  });
});

describe('the end', () => {
  test('leaves unsent text on the terminal', () => {
    const { chat, screen, hooks } = open();
    hooks.sent('one');
    hooks.sent('two');
    screen.setDraft('three');
    chat.leave('stopped');
    chat.close();
    expect(screen.printed).toEqual(['> one', 'Not sent:', 'two', 'three']);
    expect(screen.isClosed).toBe(true);
  });

  test('comes with Ctrl-D and SIGTERM; a closed terminal is told apart', async () => {
    const [one, other, third] = [open(), open(), open()];
    one.hooks.leave();
    other.chat.signalled('SIGTERM');
    third.chat.signalled('SIGHUP');
    expect(await Promise.all([one, other, third].map(({ chat }) => chat.ended))).toEqual(['left', 'left', 'gone']);
  });

  test('a swarm that is gone without notice is an error', async () => {
    const { chat } = open();
    chat.lost(new GoondanError('E_CONTROL_CLOSED', 'Lost.'));
    const error = await chat.ended.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E_CONTROL_CLOSED' });
  });
});

test('a note is printed above the prompt, line by line', () => {
  const { chat, screen } = open();
  chat.note('warn: host: one\ntwo\n');
  expect(screen.printed).toEqual(['warn: host: one', 'two']);
});

describe('a log line of the swarm', () => {
  const lineOf = (event: string, traceId: string | undefined, agent = 'host'): LogLine => {
    const about = { agent, instance: 'default', event, ...(traceId !== undefined && { traceId }) };
    return { time: '', level: 'error', message: 'no', ...about };
  };

  test('is not printed when the chat shows the same: about its turn, turns it causes, or an agent that does not start', async () => {
    const { chat, hooks, turn } = open();
    hooks.sent('hello');
    const { traceId } = turn(0).delivery;
    expect(chat.reports(lineOf('turn.failed', traceId))).toBe(true);
    expect(chat.reports(lineOf('turn.failed', traceId, 'other'))).toBe(true);
    expect(chat.reports(lineOf('start.failed', undefined))).toBe(true);
    await turn(0).fail(new GoondanError('E_EXT_INIT', 'no'));
    expect(chat.reports(lineOf('turn.failed', traceId))).toBe(true);
    expect(chat.reports(lineOf('reply.truncated', traceId))).toBe(true);
  });

  test('is printed when the chat does not show it: about turns of others, and omissions of a called agent', async () => {
    const { chat, hooks, turn } = open();
    expect(chat.reports(lineOf('start.failed', undefined))).toBe(false);
    hooks.sent('hello');
    const { traceId } = turn(0).delivery;
    expect(chat.reports(lineOf('turn.failed', 'trace-of-a-webhook'))).toBe(false);
    expect(chat.reports(lineOf('turn.failed', 'trace-of-a-webhook', 'other'))).toBe(false);
    expect(chat.reports(lineOf('start.failed', undefined, 'other'))).toBe(false);
    expect(chat.reports(lineOf('reply.truncated', traceId, 'other'))).toBe(false);
    await turn(0).end();
    // This turn ran after the chat had stopped watching the swarm.
    expect(chat.reports(lineOf('turn.failed', traceId, 'other'))).toBe(false);
  });
});

describe('a message for the running turn', () => {
  test('Y-08 goes to the swarm at once, and is printed when the turn takes it', async () => {
    const { screen, hooks, turn, asked, delivered } = open();
    hooks.sent('one', 'now');
    hooks.sent('two', 'now');
    await Promise.resolve();
    expect(delivered).toMatchObject([{ ...at, input: 'two', now: true, client: 'gdn' }]);
    expect(screen.live.at(-1)).toBe('now: two');
    turn(0).say('so far');
    turn(0).tell('turn.steered', { eventId: delivered[0]?.id ?? '' });
    turn(0).say('both');
    await turn(0).end();
    expect(screen.printed.join('|')).toBe('> one|so far|> two|both|');
    expect(asked).toHaveLength(1);
  });

  test('Y-08 has a turn of its own, which is shown next, if the turn ended first', async () => {
    const { screen, hooks, turn, asked, delivered } = open();
    hooks.sent('one', 'now');
    hooks.sent('two', 'now');
    hooks.sent('three', 'next');
    await turn(0).end();
    expect(asked[1]?.delivery).toMatchObject({ id: delivered[0]?.id ?? '?', input: 'two' });
    expect(screen.live.at(-1)).toBe('waiting: three');
    await turn(1).end();
    expect(asked[2]?.delivery).toMatchObject({ input: 'three' });
  });

  test('Y-08 that the swarm refuses returns to the input line', async () => {
    const { screen, hooks } = open();
    hooks.sent('one', 'now');
    hooks.sent('refused', 'now');
    await Bun.sleep(0);
    expect(screen.draft).toBe('refused');
    expect(screen.printed.join()).toContain('It is full.');
  });

  test('a person who types during a turn sees what the keys do', () => {
    const { screen, hooks } = open();
    const hint = 'Enter: for this turn · Tab: as the next turn';
    screen.draft = 'typed';
    expect(screen.live).not.toContain(hint);
    hooks.sent('one', 'now');
    expect(screen.live.at(-1)).toBe(hint);
  });
});
