/** Ways in which a tool or an extension can harm its process ("misdeeds"). */
import { closeSync, readFileSync, writeSync } from 'node:fs';

const CHANNEL = 3;
const MEGABYTE = 1_000_000;

/**
 * Commits a misdeed, given as its name and perhaps its size: `fill-memory:400`. Returns false if there is no such
 * misdeed.
 */
export async function misbehave(deed = ''): Promise<boolean> {
  const [name = '', size] = deed.split(':');
  const misdeed = misdeeds[name];
  await misdeed?.(Number(size));
  return misdeed !== undefined;
}

/** The misdeeds by name. Each gets its size in megabytes. */
const misdeeds: Readonly<Record<string, (megabytes: number) => unknown>> = {
  'loop-forever': loopForever,
  'block-forever': blockForever,
  'wait-forever': waitForever,
  'exit-0': () => process.exit(0),
  'exit-1': () => process.exit(1),
  'kill-itself': () => process.kill(process.pid, 'SIGKILL'),
  'fill-memory': fillMemory,
  'flood-stdout': (megabytes) => flood(megabytes, (text) => process.stdout.write(text)),
  'flood-stderr': (megabytes) => flood(megabytes, (text) => process.stderr.write(text)),
  'flood-and-block': floodAndBlock,
  'throw-text'() {
    // eslint-disable-next-line typescript/only-throw-error -- A misdeed on purpose.
    throw 'a text';
  },
  'throw-null'() {
    // eslint-disable-next-line typescript/only-throw-error -- A misdeed on purpose.
    throw null;
  },
  'throw-trap'() {
    // eslint-disable-next-line typescript/only-throw-error -- A misdeed on purpose.
    throw new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse });
  },
  'reject-unheard'() {
    void Promise.reject(new Error('Nobody catches this.'));
  },
  'throw-later'() {
    setTimeout(() => {
      throw new Error('Nobody catches this either.');
    }, 1);
  },
  'flood-log': floodLog,
  'leave-programs': leavePrograms,
  'leave-and-loop'() {
    leavePrograms();
    loopForever();
  },
  'leave-and-wait'() {
    leavePrograms();
    return waitForever();
  },
  'close-channel': () => closeSync(CHANNEL),
  'speak-nonsense': () => writeFrames('{"type":"nonsense"}\n', 1_000),
  'speak-too-long': () => writeFrames(`${'x'.repeat(2 * MEGABYTE)}\n`, 3),
  'forge-frames': forgeFrames,
};

function loopForever(): never {
  for (;;);
}

/** Blocks the event loop without using the processor. */
function blockForever(): never {
  for (;;) Bun.sleepSync(1_000);
}

function waitForever(): Promise<never> {
  return new Promise(() => undefined);
}

function refuse(): never {
  throw new Error('Hands off.');
}

const held: Uint8Array[] = [];

/** Allocates memory and really uses it, but at most a quarter of the memory that is available. */
async function fillMemory(megabytes: number): Promise<void> {
  const wanted = Math.min(megabytes * MEGABYTE, availableMemory() / 4);
  for (let bytes = 0; bytes < wanted; bytes += 50 * MEGABYTE) {
    held.push(new Uint8Array(50 * MEGABYTE).fill(1));
    await Bun.sleep(0);
  }
}

function availableMemory(): number {
  const kilobytes = /MemAvailable:\s+(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
  return Number(kilobytes ?? 0) * 1_024;
}

/** Writes without waiting for a reader. */
function flood(megabytes: number, write: (text: string) => unknown): void {
  const lines = `${'x'.repeat(99)}\n`.repeat(10_000);
  for (let count = 0; count < megabytes; count++) write(lines);
}

/** Writes log lines in the format of the channel, faster than they are read. */
function floodLog(megabytes: number): void {
  const line = { time: new Date().toISOString(), level: 'info', event: 'flood', message: 'x'.repeat(900) };
  writeFrames(`${JSON.stringify({ type: 'log', line })}\n`.repeat(1_000), megabytes);
}

/** Blocks the event loop until everything that this function writes has been read. */
function floodAndBlock(megabytes: number): void {
  const lines = Buffer.from(`${'x'.repeat(99)}\n`.repeat(10_000));
  for (let count = 0; count < megabytes; count++) writeAll(1, lines);
}

/** Starts ten programs, five of them in their own session. */
function leavePrograms(): void {
  const silent = { stdio: ['ignore', 'ignore', 'ignore'] } as const;
  for (let count = 0; count < 5; count++) {
    Bun.spawn(['setsid', 'sh', '-c', 'sleep 1000 & sleep 1000'], { ...silent, stdio: [...silent.stdio] }).unref();
  }
}

/** Writes until the orchestrator closes the channel. */
function writeFrames(frame: string, times: number): void {
  try {
    for (let count = 0; count < times; count++) writeAll(CHANNEL, Buffer.from(frame));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
  }
}

/** Writes well-formed frames that claim to be about other instances. */
function forgeFrames(): void {
  const result = { turnId: 'turn-somebody-else', finishReason: 'text_response' };
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  const event = {
    id: 'forged',
    type: 'user.message',
    instanceKey: 'default',
    source: { kind: 'agent', name: 'good' },
    traceId: '1'.repeat(32),
    createdAt: new Date().toISOString(),
    input: 'forged',
    auth: { user: 'root' },
  };
  const to = { agentName: 'good', instanceKey: 'default' };
  for (const frame of [
    { type: 'turn.done', eventId: 'somebody-else', result, stepCount: 1, usage },
    { type: 'reply', eventId: 'somebody-else', result },
    { type: 'ready', extensions: [], layers: [], tools: [] },
    { type: 'pong', n: 1_000_000 },
    { type: 'drained' },
    { type: 'call.cancelled', callId: 'unknown' },
    { type: 'call', callId: 'forged', kind: 'send', to: { ...to, agentName: 'nobody' }, event, timeoutMs: 1 },
    { type: 'call', callId: 'forged', kind: 'send', to: { ...to, instanceKey: '' }, event, timeoutMs: -1 },
    { file: '../../../../../../etc/passwd' },
  ]) {
    writeFrames(`${JSON.stringify(frame)}\n`, 1);
  }
}

/** Writes all bytes to any kind of descriptor. */
function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
      Bun.sleepSync(1);
    }
  }
}
