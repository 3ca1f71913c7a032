// Tests channels between real processes, for behaviour that a single process cannot show.
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentEvent } from '@goondan/types';
import { memoryInUse } from '../../../../test/memory-in-use.ts';
import { shareOfProcessor } from '../../../../test/used-ms.ts';
import { Channel } from './channel/channel.ts';
import { frameFolder } from './channel/frame-files.ts';
import { socketWire } from './channel/socket-wire.ts';
import { agentLanguage } from './codec.ts';
import type { FromAgent } from './from-agent.ts';
import type { ChannelLimits } from './limits.ts';
import type { ToAgent } from './to-agent.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';

const event: AgentEvent = {
  id: 'event-1',
  type: 'message',
  instanceKey: 'default',
  source: { kind: 'cli', name: 'gdn' },
  traceId: 'trace-1',
  createdAt: new Date('2026-03-04T05:06:07.089Z'),
};
const folder = temporaryFolder();

/** Starts a child that runs the code `body`, which can use `channel`. */
function start(body: string, limits: Partial<ChannelLimits> = {}) {
  const script = join(folder, `${crypto.randomUUID()}.ts`);
  const frames = join(folder, crypto.randomUUID());
  writeFileSync(
    script,
    `import { connectToParent } from ${JSON.stringify(join(import.meta.dir, 'connect-to-parent.ts'))};
     import { agentLanguage } from ${JSON.stringify(join(import.meta.dir, 'codec.ts'))};
     import { writeSync } from 'node:fs';
     const channel = connectToParent(agentLanguage, process.argv[2]);
     channel.onClose(() => process.exit(0));
     ${body}`,
  );
  const child = Bun.spawn([process.execPath, '--no-install', script, frames], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  const channel = new Channel({
    wire: socketWire(child.stdio[3] as unknown as number),
    codec: agentLanguage.parent,
    files: frameFolder(frames),
    limits,
  });
  return { child, channel, frames, ...listen(channel) };
}

function listen(channel: Channel<ToAgent, FromAgent>) {
  const messages: FromAgent[] = [];
  const refusals: string[] = [];
  const closed = Promise.withResolvers<void>();
  const waiting: { count: number; resolve: () => void }[] = [];
  let closes = 0;
  channel.onClose(() => {
    closes += 1;
    closed.resolve();
  });
  channel.onRefused(({ code }) => refusals.push(code));
  channel.onMessage((message) => {
    messages.push(message);
    for (const { count, resolve } of waiting) if (messages.length >= count) resolve();
  });
  return {
    messages,
    refusals,
    closed: closed.promise,
    closes: () => closes,
    until: (count: number) =>
      new Promise<void>((resolve) => {
        if (messages.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

describe('a parent and its child', () => {
  test('exchange 10 000 messages in order', async () => {
    const { child, channel, messages, until } = start(`
      let last = Promise.resolve();
      channel.onMessage(({ n }) => { last = last.then(() => channel.send({ type: 'pong', n })); });
    `);
    for (let n = 0; n < 10_000; n++) await channel.send({ type: 'ping', n });
    await until(10_000);
    expect(messages).toEqual(Array.from({ length: 10_000 }, (_, n) => ({ type: 'pong', n })));
    channel.close();
    expect(await child.exited).toBe(0);
  });

  test('exchange five megabytes by file, and leave no file behind', async () => {
    const { channel, child, frames, messages, until } = start(`
      channel.onMessage((message) => {
        if (message.type !== 'turn') return;
        const { event } = message;
        if (!(event.createdAt instanceof Date)) throw new Error('no date');
        void channel.send({ type: 'call', callId: 'c', kind: 'send', to: { agentName: 'a', instanceKey: 'k' }, event, timeoutMs: 1 });
        void channel.send({ type: 'pong', n: event.input.length });
      });
    `);
    const input = '0123456789'.repeat(500_000);
    await channel.send({ type: 'turn', event: { ...event, input }, seq: 1 });
    await until(2);
    expect(messages[0]).toMatchObject({ type: 'call', event: { ...event, input } });
    expect(messages[1]).toEqual({ type: 'pong', n: 5_000_000 });
    expect(readdirSync(frames)).toEqual([]);
    channel.close();
    expect(await child.exited).toBe(0);
  });

  test('get everything that the child sent before it exits in the same tick', async () => {
    const { child, messages, closed } = start(`
      await new Promise((resolve) => setTimeout(resolve, 10));
      void channel.send({ type: 'pong', n: 1 });
      void channel.send({ type: 'pong', n: 2 });
      process.exit(0);
    `);
    await Promise.all([closed, child.exited]);
    expect(messages).toEqual([
      { type: 'pong', n: 1 },
      { type: 'pong', n: 2 },
    ]);
  });

  test('get a log line, and all before it, although the child blocks right after it', async () => {
    const { child, messages, until } = start(`
      await new Promise((resolve) => setTimeout(resolve, 10));
      void channel.send({ type: 'pong', n: 1 });
      void channel.send({ type: 'log', line: { time: 't', level: 'info', message: 'here' } });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    `);
    await until(2);
    child.kill('SIGKILL');
    expect(messages).toEqual([
      { type: 'pong', n: 1 },
      { type: 'log', line: { time: 't', level: 'info', message: 'here' } },
    ]);
  });

  test('learn once when the child is killed in mid-stream, after its last complete message', async () => {
    const { child, channel, messages, refusals, closed, closes, until } = start(`
      for (let n = 0; ; n++) await channel.send({ type: 'pong', n });
    `);
    await until(1_000);
    child.kill('SIGKILL');
    await Promise.all([closed, child.exited]);
    await Bun.sleep(20);
    expect(closes()).toBe(1);
    expect(refusals).toEqual([]);
    expect(messages).toEqual(Array.from({ length: messages.length }, (_, n) => ({ type: 'pong', n })));
    expect(await channel.send({ type: 'ping', n: 1 }).catch((error: unknown) => error)).toMatchObject({
      code: 'E_IPC_CLOSED',
    });
  });

  test('lose no sent message when the child exits right after', async () => {
    const { child, messages, closed } = start(`
      for (let n = 0; n < 500; n++) await channel.send({ type: 'pong', n });
      process.exit(7);
    `);
    await closed;
    expect(messages).toHaveLength(500);
    expect(await child.exited).toBe(7);
  });

  test('lose nothing when the child closes after a flush of more than the system holds', async () => {
    const { messages, closed } = start(`
      for (let n = 0; n < 900; n++) void channel.send({ type: 'pong', n });
      for (let n = 0; n < 90; n++) void channel.send({ type: 'call.cancelled', callId: 'x'.repeat(4_000) });
      await channel.closeAfterFlush();
      process.exit(0);
    `);
    await closed;
    expect(messages).toHaveLength(990);
  });

  test('end the child when the parent closes, and free the parent when the child never reads', async () => {
    const { child, channel } = start(`for (;;) Bun.sleepSync(1_000);`);
    const sent = channel.send({ type: 'start', plan: { text: 'x'.repeat(900_000) } }).catch((error: unknown) => error);
    expect(await Promise.race([sent.then(() => 'sent'), Bun.sleep(50)])).toBeUndefined();
    channel.close();
    expect(await sent).toMatchObject({ code: 'E_IPC_CLOSED' });
    child.kill('SIGKILL');
    await child.exited;
  });
});

describe('a misbehaving child', () => {
  test('costs the parent no memory with an endless frame', async () => {
    const body = `
      const piece = Buffer.alloc(1 << 20, 'x');
      for (let sent = 0; sent < 300 * 2 ** 20; ) {
        try { sent += writeSync(3, piece); } catch (error) { if (error.code !== 'EAGAIN') throw error; Bun.sleepSync(1); }
      }
      `;
    const { child, refusals, closed } = start(body, { bytesPerSecond: 1_000_000_000 });
    const before = memoryInUse();
    let highest = before;
    const over = new AbortController();
    const watching = (async () => {
      while (!over.signal.aborted) {
        const startedAt = performance.now();
        highest = Math.max(highest, memoryInUse());
        // Leaves most of the time to the frame: in a process with many modules, a garbage collection takes long.
        await Bun.sleep(5 * (performance.now() - startedAt));
      }
    })();
    await closed;
    await child.exited;
    over.abort();
    await watching;
    expect(refusals).toEqual(['E_IPC_SIZE']);
    // If the whole frame were kept in memory, this would be more than three hundred million bytes.
    expect(highest - before).toBeLessThan(150_000_000);
  }, 120_000);

  test('does not block the parent with a flood', async () => {
    const { child, channel, messages, until } = start(`
      const lines = Buffer.from('{"type":"pong","n":1}\\n'.repeat(2_000));
      for (let rest = lines; ; rest = rest.length === 0 ? lines : rest) {
        try { rest = rest.subarray(writeSync(3, rest)); } catch (error) { if (error.code !== 'EAGAIN') throw error; Bun.sleepSync(1); }
      }
    `);
    await until(1);
    expect(await shareOfProcessor(1_500)).toBeLessThan(0.5);
    expect(channel.isClosed).toBe(false);
    expect(messages.length).toBeGreaterThan(10_000);
    child.kill('SIGKILL');
    await child.exited;
    channel.close();
  });

  test('is disconnected after a malformed frame', async () => {
    const { child, refusals, closed } = start(`
      channel.onMessage(() => undefined);
      for (let n = 0; n < 1_000; n++) { try { writeSync(3, 'nonsense\\n'); } catch { break; } }
    `);
    await closed;
    expect(refusals).toEqual(['E_IPC_FRAME']);
    expect(await child.exited).toBe(0);
  });
});

describe('a process', () => {
  test('finds its channel closed when no orchestrator started it', async () => {
    const script = join(folder, 'alone.ts');
    writeFileSync(
      script,
      `import { connectToParent } from ${JSON.stringify(join(import.meta.dir, 'connect-to-parent.ts'))};
       import { agentLanguage } from ${JSON.stringify(join(import.meta.dir, 'codec.ts'))};
       const channel = connectToParent(agentLanguage, 'nowhere');
       channel.onMessage(() => undefined);
       channel.onClose(() => console.log('closed'));
       await channel.send({ type: 'drained' }).catch((error) => console.log(error.code));`,
    );
    const child = Bun.spawn([process.execPath, script], { stdio: ['ignore', 'pipe', 'inherit'] });
    expect((await child.stdout.text()).split('\n').toSorted()).toEqual(['', 'E_IPC_CLOSED', 'closed']);
    expect(existsSync('nowhere')).toBe(false);
  });

  test('continues with the next message when a listener throws, and the error is reported', async () => {
    const { child, channel, messages, until } = start(`
      process.on('uncaughtException', ({ message }) => void channel.send({ type: 'start.failed', error: { code: 'E_EXT_INIT', message } }));
      channel.onMessage(() => { throw new Error('a bug'); });
      channel.onMessage(({ n }) => void channel.send({ type: 'pong', n }));
    `);
    await channel.send({ type: 'ping', n: 5 });
    await until(2);
    expect(messages).toContainEqual({ type: 'pong', n: 5 });
    expect(messages).toContainEqual({ type: 'start.failed', error: { code: 'E_EXT_INIT', message: 'a bug' } });
    channel.close();
    expect(await child.exited).toBe(0);
  });
});
