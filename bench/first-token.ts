/** Measures the time to the first token of each provider, against a bare `fetch` to the same local server. */
import type { Model } from '@goondan/runtime/internal';
import { openModel } from '../packages/runtime/src/agent/model-call/open-model.ts';
import { openaiWire } from '../packages/runtime/src/agent/model/providers/wire/openai-wire.ts';
import { startWireServer } from '../packages/runtime/src/agent/model/providers/wire/wire-server.ts';
import { systemClock } from '../packages/runtime/src/ports/clock.ts';
import type { Figures } from './figures.ts';
import { printTimings, summarise } from './measure.ts';

const reply = { text: ['Hello', ' there'], usage: { input: 1, output: 2, cached: 0 } };
const ROUNDS = 200;

export async function benchFirstToken(): Promise<Figures> {
  await using server = startWireServer(openaiWire);
  server.answer({ reply });
  const spec = { model: 'wire-model', apiKey: 'bench-key-0000', endpoint: `${server.url}/v1` };
  const ports = { clock: systemClock, environment: {}, folder: '.' };
  const openai = await openModel('Model/openai', { provider: 'openai', ...spec }, ports);
  const compatible = await openModel('Model/compatible', { provider: 'openai-compatible', ...spec }, ports);
  const contestants: [string, () => Promise<number>][] = [
    ['raw fetch', () => rawFetch(`${server.url}/v1/chat/completions`)],
    ['goondan, openai', () => throughModel(openai)],
    ['goondan, openai-compatible', () => throughModel(compatible)],
  ];
  const times = contestants.map(() => [] as number[]);
  for (let round = -300; round < ROUNDS; round++) {
    for (const [index, [, firstToken]] of contestants.entries()) {
      const taken = (await firstToken()) * 1_000;
      if (round >= 0) times[index]?.push(taken);
    }
  }
  const timings = contestants.map(([name], index) => summarise(name, times[index] ?? []));
  printTimings('time to first token', timings, 'local server; the target is at most 500 µs over raw fetch');
  const [raw, ...ours] = timings;
  for (const { name, median } of ours)
    console.log(`  ${name}: +${(median - (raw?.median ?? 0)).toFixed(0)} µs over raw fetch`);
  return {};
}

async function rawFetch(url: string): Promise<number> {
  const body = JSON.stringify({ model: 'wire-model', messages: [{ role: 'user', content: 'hi' }], stream: true });
  const startedAt = performance.now();
  const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  const decoder = new TextDecoder();
  let first: number | undefined;
  for await (const chunk of response.body ?? []) {
    if (first === undefined && decoder.decode(chunk).includes('Hello')) first = performance.now() - startedAt;
  }
  return first ?? Number.NaN;
}

async function throughModel(model: Model): Promise<number> {
  let first: number | undefined;
  const startedAt = performance.now();
  await model.generate({
    messages: [{ role: 'user', content: 'hi' }],
    tools: [],
    params: {},
    signal: new AbortController().signal,
    turnId: 'turn-1',
    onDelta: () => {
      first ??= performance.now() - startedAt;
    },
  });
  return first ?? Number.NaN;
}
