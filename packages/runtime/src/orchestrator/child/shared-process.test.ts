import { describe, expect, test } from 'bun:test';
import type { AgentEvent } from '@goondan/types';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import { agentLanguage } from '../../ipc/codec.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import { type Seated, seatedLanguage } from '../../ipc/seated-language.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { fakeSpawn } from '../../testing/fake-spawn.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { describeSharedEnd, type SharedEnd } from './describe-shared-end.ts';
import { type SharedChild, SharedProcess } from './shared-process.ts';

const agent: DeclaredAgent = { agentName: 'clerk', models: {}, isolation: 'agent', maxInstances: 3 };

const event: AgentEvent = {
  ...{ id: 'a', type: 'message', input: 'hi', instanceKey: 'default', traceId: 'trace' },
  source: { kind: 'cli', name: 'test' },
  createdAt: new Date(0),
};

function open(as = (started: SharedChild) => started) {
  const clock = manualClock();
  const { spawn, children } = fakeSpawn<Seated<ToAgent>, Seated<FromAgent>>({ clock });
  const heard: FromAgent[] = [];
  const refused: string[] = [];
  const got: Seated<ToAgent>[] = [];
  const ends: SharedEnd[] = [];
  let now: DeclaredAgent = agent;
  const started = spawn(seatedLanguage(agentLanguage), { name: 'shared', runner: 'none', frameFolder: '/tmp' });
  const process = new SharedProcess(as(started), agent, {
    clock,
    agentNow: () => now,
    heard: (message) => void heard.push(message),
    refused: (problem) => void refused.push(problem),
    ended: (end) => void ends.push(end),
  });
  const [child] = children;
  if (child === undefined) throw new Error('no child');
  child.channel.onMessage((frame) => void got.push(frame));
  const change = (to: DeclaredAgent) => void (now = to);
  const settle = () => clock.advance(0);
  return { clock, process, child, heard, refused, got, ends, change, settle };
}

describe('a shared process', () => {
  test('has a channel for each conversation, and seats that are never given twice', async () => {
    const { process, child, got, settle } = open();
    const [first, second] = [process.admit(), process.admit()];
    const messages: FromAgent[] = [];
    second.channel.onMessage((message) => void messages.push(message));
    await first.channel.send({ type: 'reply.taken', eventId: 'a' });
    await second.channel.send({ type: 'reply.taken', eventId: 'b' });
    await child.channel.send({ seat: 2, message: { type: 'change.ready', change: 1 } });
    await settle();
    expect(got.map(({ seat }) => seat)).toEqual([1, 2]);
    expect(messages).toEqual([{ type: 'change.ready', change: 1 }]);

    await child.channel.send({ seat: 2, exit: 0 });
    expect(await second.exited).toEqual({ code: 0, signal: null, leftBehind: 0, sharing: 'left' });
    await process.admit().channel.send({ type: 'reply.taken', eventId: 'c' });
    await settle();
    expect(got.at(-1)?.seat).toBe(3);
  });

  test('is full at maxInstances, and admits nobody to another plan or after a dropped change', async () => {
    const { process, change } = open();
    const { channel } = process.admit();
    expect(process.roomFor(agent)).toBe(2);
    expect(process.roomFor({ ...agent })).toBe(2);
    const next: DeclaredAgent = { ...agent, systemPrompt: 'Other.' };
    expect(process.roomFor(next)).toBe(0);

    await channel.send({ type: 'change.prepare', change: 1, plan: {} });
    change(next);
    await channel.send({ type: 'change.swap', change: 1 });
    expect(process.roomFor(next)).toBe(2);
    expect(process.roomFor(agent)).toBe(0);
    await channel.send({ type: 'change.prepare', change: 2, plan: {} });
    await channel.send({ type: 'change.drop', change: 2 });
    expect(process.roomFor(next)).toBe(0);
    expect(process.changes).toBe(2);
  });

  test('tells each conversation whether it was alone when the process ended', async () => {
    const together = open();
    const seats = [together.process.admit(), together.process.admit()];
    together.child.exit({ signal: 'SIGKILL' });
    for (const seat of seats) expect(await seat.exited).toMatchObject({ signal: 'SIGKILL', sharing: 'together' });

    const alone = open();
    const seat = alone.process.admit();
    alone.child.exit({ code: 1 });
    expect(await seat.exited).toMatchObject({ code: 1, sharing: 'alone' });
    expect(alone.process.roomFor(agent)).toBe(0);
  });

  test('that is blocked tells the code to each conversation, and blames only the one whose code it is', async () => {
    const { process, child } = open((started) => ({
      ...started,
      hung: () => ({ words: 'blocked in a', conversation: 2 }),
    }));
    const [first, second] = [process.admit(), process.admit()];
    expect(first.hung?.()?.words).toBe('blocked in a, for another conversation');
    expect(second.hung?.()?.words).toBe('blocked in a');
    child.exit({ signal: 'SIGKILL' });
    expect(await first.exited).not.toHaveProperty('blocked');
    expect(await second.exited).toMatchObject({ sharing: 'together', blocked: 'blocked in a' });
  });

  test('is killed when one of its frames cannot be read, for all its conversations', async () => {
    const { process, child, refused } = open();
    const seats = [process.admit(), process.admit()];
    child.channel['wire'].write(Buffer.from('{"seat":1,"message":{}}\n'));
    for (const seat of seats) expect(await seat.exited).toMatchObject({ signal: 'SIGKILL', sharing: 'together' });
    expect(child.kills).toEqual([0]);
    expect(refused).toEqual([expect.stringContaining('E_IPC_FRAME: A frame "?" is malformed')]);
  });

  test('reports its end once, with the number of its conversations and of their running turns', async () => {
    const { process, child, ends, settle } = open();
    const [first, second, third] = [process.admit(), process.admit(), process.admit()];
    const result = { turnId: 'turn', finishReason: 'text_response' } as const;
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    const done = { type: 'turn.done', eventId: 'a', result, stepCount: 1, usage } as const;
    for (const { channel } of [first, second, third]) await channel.send({ type: 'turn', event, seq: 1 });
    await child.channel.send({ seat: 1, message: done });
    await child.channel.send({ seat: 2, message: { ...done, begins: 'b' } });
    await settle();
    child.exit({ signal: 'SIGKILL' });
    await third.exited;
    expect(ends).toEqual([{ pid: process.pid, code: null, signal: 'SIGKILL', conversations: 3, turns: 2 }]);

    const alone = open();
    const seat = alone.process.admit();
    alone.child.exit({ code: 1 });
    await seat.exited;
    expect(alone.ends).toEqual([]);
  });

  test('ends when its last conversation is closed, which has exited only then', async () => {
    const { process, child, got, settle } = open();
    const seat = process.admit();
    let hasExited = false;
    void seat.exited.then(() => (hasExited = true));
    await child.channel.send({ seat: 1, exit: 0 });
    await settle();
    expect(got).toMatchObject([{ seat: 0, message: { type: 'drain' } }]);
    expect(hasExited).toBe(false);
    expect(process.roomFor(agent)).toBe(0);
    child.exit({ code: 0 });
    expect(await seat.exited).toEqual({ code: 0, signal: null, leftBehind: 0 });
  });

  test('asks the process once whether it answers, for all conversations', async () => {
    const { process, child, got, clock, settle } = open();
    const pongs: FromAgent[] = [];
    const seats = [process.admit(), process.admit(), process.admit()];
    for (const { channel } of seats) channel.onMessage((message) => void pongs.push(message));
    for (const [index, { channel }] of seats.entries()) await channel.send({ type: 'ping', n: index + 5 });
    await settle();
    expect(got).toEqual([{ seat: 0, message: { type: 'ping', n: 1 } }]);
    expect(pongs).toEqual([]);
    await child.channel.send({ seat: 0, message: { type: 'pong', n: 1 } });
    await settle();
    expect(pongs).toEqual([5, 6, 7].map((n) => ({ type: 'pong', n })));
    await seats[0]?.channel.send({ type: 'ping', n: 8 });
    expect(pongs).toHaveLength(4);
    await clock.advance(1_000);
    await seats[0]?.channel.send({ type: 'ping', n: 9 });
    await settle();
    expect(got).toHaveLength(2);
  });

  test('is killed for one conversation, unless that one leaves by itself', async () => {
    const { process, child, settle } = open();
    const [first, second] = [process.admit(), process.admit()];
    await child.channel.send({
      seat: 1,
      message: { type: 'start.failed', error: { code: 'E_EXT_INIT', message: 'no' } },
    });
    await settle();
    const failed = first.kill(0);
    expect(child.kills).toEqual([]);
    await child.channel.send({ seat: 1, exit: 1 });
    expect(await failed).toEqual({ code: 1, signal: null, leftBehind: 0, sharing: 'left' });
    void second.kill(0);
    expect(child.kills).toEqual([0]);
    expect(await second.exited).toMatchObject({ sharing: 'alone' });
  });

  test('is killed when a conversation that leaves by itself does not leave in time', async () => {
    const { process, child, clock, settle } = open();
    const [first] = [process.admit(), process.admit()];
    const error = { code: 'E_DISK_FULL', message: 'no' } as const;
    await child.channel.send({ seat: 1, message: { type: 'turn.lost', eventId: 'a', error } });
    await settle();
    const killed = first?.kill(0);
    await clock.advance(7_999);
    expect(child.kills).toEqual([]);
    await clock.advance(1);
    expect(child.kills).toEqual([0]);
    expect(await killed).toMatchObject({ signal: 'SIGKILL', sharing: 'together' });
  });

  test('is not killed for a conversation that has left in time', async () => {
    const { process, child, clock, settle } = open();
    const [first] = [process.admit(), process.admit()];
    const error = { code: 'E_DISK_FULL', message: 'no' } as const;
    await child.channel.send({ seat: 1, message: { type: 'turn.lost', eventId: 'a', error } });
    await settle();
    const killed = first?.kill(0);
    await child.channel.send({ seat: 1, exit: 1 });
    await killed;
    await clock.advance(60_000);
    expect(child.kills).toEqual([]);
  });

  test('is killed when it does not end after its last conversation', async () => {
    const { process, child, clock, settle } = open();
    process.admit();
    await child.channel.send({ seat: 1, exit: 0 });
    await settle();
    await clock.advance(9_999);
    expect(child.kills).toEqual([]);
    await clock.advance(1);
    expect(child.kills).toEqual([0]);
  });

  test('admits nobody once its channel is closed, although it has not exited yet', async () => {
    const { process, child, settle } = open();
    const { channel } = process.admit();
    let isClosed = false;
    channel.onClose(() => (isClosed = true));
    expect(process.roomFor(agent)).toBe(2);
    child.channel.close();
    await settle();
    expect([isClosed, process.roomFor(agent)]).toEqual([true, 0]);
  });

  test('reports the processes that it left behind once, not for each conversation', async () => {
    const { process, child } = open();
    const seats = [process.admit(), process.admit()];
    child.exit({ code: 1, leftBehind: 3 });
    const counts = await Promise.all(seats.map(async ({ exited }) => (await exited).leftBehind));
    expect(counts).toEqual([3, 0]);
  });
});

test.each([
  [
    { code: null, signal: 'SIGKILL', turns: 2 },
    'ended by SIGKILL. 2 turns were interrupted, and each continues in a process of its own.',
  ],
  [
    { code: 3, signal: null, turns: 1 },
    'ended with code 3. 1 turn was interrupted, and continues in a process of its own.',
  ],
  [{ code: 3, signal: null, turns: 0 }, 'ended with code 3. No turn was interrupted.'],
] as const)('the end of a shared process is one line: %j', (end, expected) => {
  const line = describeSharedEnd({ ...end, pid: 7, conversations: 40 });
  expect(line).toBe(`Process 7, which 40 conversations shared, ${expected}`);
});
