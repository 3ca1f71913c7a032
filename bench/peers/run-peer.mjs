/**
 * The part that all programs of `npm run bench -- peers` share. A program calls `runPeer` with a function that opens a
 * conversation. Each task runs in a new process, and its result is one line of JSON on standard output.
 *
 * This file is plain JavaScript, because Node and Bun both run it as it is.
 */
import { readFileSync } from 'node:fs';

export const question = 'What is the weather like in Seoul today?';
export const toolName = 'weather__get';
export const toolResult = { tempC: 20 };
export const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

/** Decides the answers of an instant model: a tool call in every step of a turn except the last. */
export function answersOf(steps) {
  let calls = 0;
  return () => {
    calls++;
    return calls % steps === 0 ? { text: 'Sunny.' } : { callId: `call-${calls}`, city: 'Seoul' };
  };
}

const tasks = { first, ten, history, memory };

/**
 * `peer.open({ steps, messages, folder })` returns a conversation with at least this many messages: `turn()` and
 * `close()`. `peer.settings()` describes the settings of the store, after a turn.
 */
export async function runPeer(peer) {
  const { task, folder } = JSON.parse(process.argv[2]);
  const result = await tasks[task]({ ...peer, open: (options) => peer.open({ messages: 0, folder, ...options }) });
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}

/** Runs one turn of one step. The caller measures the time from the start of the process to the result. */
async function first(peer) {
  const conversation = await peer.open({ steps: 1 });
  await conversation.turn();
  return { settings: (await peer.settings?.()) ?? '' };
}

/** Measures turns of ten steps. Each sample is a new conversation; its first turn is not measured. */
async function ten(peer) {
  const sample = async () => {
    const conversation = await peer.open({ steps: 10 });
    await conversation.turn();
    const measured = await timed(3, () => conversation.turn());
    await conversation.close();
    return measured;
  };
  return measure(sample, { warmUps: 100, samples: 15 });
}

/** Measures turns of one step in a conversation that begins with 10 000 messages. A turn of many seconds is measured once. */
async function history(peer) {
  const conversation = await peer.open({ steps: 1, messages: 10_000 });
  const sample = () => timed(1, () => conversation.turn());
  const one = await sample();
  const isLong = one.microseconds > 1_000 * (WARM_UP_MS + MEASURE_MS);
  const result = isLong ? one : await measure(sample, { warmUps: 300, samples: 30 });
  await conversation.close();
  return result;
}

const WARM_UP_MS = 3_000;
const MEASURE_MS = 3_000;

/** Takes samples until there are enough of them, or the time is over. The result has the medians. */
async function measure(sample, { warmUps, samples }) {
  const warmUntil = performance.now() + WARM_UP_MS;
  for (let done = 0; done < warmUps && performance.now() < warmUntil; done++) await sample();
  const taken = [];
  const measureUntil = performance.now() + MEASURE_MS;
  do taken.push(await sample());
  while (taken.length < samples && performance.now() < measureUntil);
  const medianOf = (name) => median(taken.map((one) => one[name]));
  return { microseconds: medianOf('microseconds'), bytes: medianOf('bytes'), samples: taken.length };
}

async function timed(times, run) {
  const before = bytesWritten();
  const startedAt = performance.now();
  for (let time = 0; time < times; time++) await run();
  const microseconds = ((performance.now() - startedAt) * 1_000) / times;
  return { microseconds, bytes: (bytesWritten() - before) / times };
}

/** Reads the resident memory of the process after 200 turns of one conversation. */
async function memory(peer) {
  const conversation = await peer.open({ steps: 1 });
  for (let turn = 0; turn < 200; turn++) await conversation.turn();
  await new Promise((resolve) => setTimeout(resolve, 500));
  const megabytes = process.memoryUsage.rss() / 1_024 / 1_024;
  await conversation.close();
  return { megabytes };
}

/** Returns the bytes that this process has passed to `write`. Works on Linux only. */
function bytesWritten() {
  try {
    return Number(/^wchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
  } catch {
    return Number.NaN;
  }
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}
