// Tests the spans that a collector receives for a request over real HTTP. The request passes through two agents in
// separate processes.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSpanId } from '../../packages/runtime/src/trace/span-id.ts';
import { attributesOf, type Collector, type ReceivedSpan, startCollector } from './collector.ts';
import { testInProof } from '../samples.ts';
import { startOffice } from './start-office.ts';
import { until } from '../until.ts';

setDefaultTimeout(120_000);

const caller = 'b7ad6b7169203331';
const canaries = /[A-Z]+-CANARY/;

const internal = 1;
const server = 2;
const client = 3;
const FAILED = 2;

type Texts = Readonly<Record<string, string>>;

/** An input that is posted to an office, with the trace of its caller. */
interface Post {
  readonly input: string;
  readonly traceId: string;
  /** The last field of the trace's header, which says whether the caller records it. */
  readonly flags?: string;
}

const asking: Post = { input: 'ask INPUT-CANARY', traceId: '0af7651916cd43dd8448eb211c80319c' };
const breaking: Post = { input: 'break INPUT-CANARY', traceId: '1af7651916cd43dd8448eb211c80319c' };
const failing: Post = { input: 'fail INPUT-CANARY', traceId: '2af7651916cd43dd8448eb211c80319c' };
const retried: Post = { input: 'again INPUT-CANARY', traceId: '3af7651916cd43dd8448eb211c80319c' };
const malformed: Post = { input: 'hello', traceId: '4af7651916cd43dd8448eb211c80319', flags: '01' };
const unrecorded: Post = { input: 'ask INPUT-CANARY', traceId: '5af7651916cd43dd8448eb211c80319c', flags: '00' };
const recorded = [asking, breaking, failing, retried];

interface Exported {
  readonly spans: readonly ReceivedSpan[];
  readonly collector: Collector;
}

const capture: Texts = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' };
/** The swarms that several tests look at: one exports no contents, the other one does. */
const exportPlain = once(() => exportOf([...recorded, malformed, unrecorded]));
const exportContents = once(() => exportOf(recorded, capture));

/** Runs the work at the first call, and returns the same result again and again. */
function once<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let result: Promise<Value> | undefined;
  return () => (result ??= work());
}

function headerOf({ traceId, flags = '01' }: Post): string {
  return `00-${traceId}-${caller}-${flags}`;
}

/** Posts inputs to a swarm one after the other, stops it, and returns its spans. */
async function exportOf(posts: readonly Post[], environment: Texts = {}): Promise<Exported> {
  using collector = startCollector();
  await using office = await startOffice({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...environment });
  for (const post of posts) await office.post(post.input, { traceparent: headerOf(post) });
  await office.stop();
  return { spans: collector.spans(), collector };
}

/** Returns the spans of one of the posts. */
function spansOf({ spans }: Exported, post: Post): readonly ReceivedSpan[] {
  return spans.filter(({ traceId }) => traceId === post.traceId);
}

function bodiesOf({ collector }: Exported): string {
  return collector.requests.map(({ body }) => body).join('\n');
}

function find(spans: readonly ReceivedSpan[], name: string, parent?: ReceivedSpan): ReceivedSpan {
  const found = spans.filter((span) => span.name === name && (!parent || span.parentSpanId === parent.spanId));
  const [first, ...more] = found;
  if (first === undefined || more.length > 0) throw new Error(`${found.length} of ${name}`);
  return first;
}

function dangling(spans: readonly ReceivedSpan[]): readonly string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  return spans
    .filter(({ parentSpanId = '' }) => !ids.has(parentSpanId) && parentSpanId !== caller)
    .map(({ name }) => name);
}

describe('a request that crosses two agents', () => {
  test('R-08 is one connected trace under the span of the caller, with the names of the conventions', async () => {
    const exported = await exportPlain();
    const { collector } = exported;
    const spans = spansOf(exported, asking);
    // Each post has its own trace, but for the one that its caller does not record.
    expect(new Set(exported.spans.map(({ traceId }) => traceId)).size).toBe(recorded.length + 1);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    expect(dangling(spans)).toEqual([]);

    const front = find(spans, 'invoke_agent front');
    const firstStep = find(spans, 'step 0', front);
    const request = find(spans, 'execute_tool agents__request', firstStep);
    const helper = find(spans, 'invoke_agent helper', request);
    const chat = find(spans, 'chat front-model', firstStep);
    expect(front.parentSpanId).toBe(caller);
    expect([front, helper, firstStep, request, chat].map(({ kind }) => kind)).toEqual([
      server,
      internal,
      internal,
      internal,
      client,
    ]);
    find(spans, 'execute_tool probe__look', firstStep);
    find(spans, 'chat front-model', find(spans, 'step 1', front));
    find(spans, 'chat helper-model', find(spans, 'step 0', helper));

    const whose = {
      'gen_ai.agent.id': 'office/front',
      'gen_ai.agent.name': 'front',
      'gen_ai.conversation.id': 'front/blue',
    };
    expect(attributesOf(front)).toMatchObject({
      ...whose,
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
      'goondan.finish_reason': 'text_response',
      'goondan.source': 'connector/door',
      'goondan.steps': 2,
    });
    expect(attributesOf(chat)).toMatchObject({
      ...whose,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'front-model',
      'gen_ai.response.finish_reasons': ['tool_calls'],
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
    });
    expect(attributesOf(request)).toMatchObject({
      ...whose,
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'agents__request',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': expect.stringMatching(/./),
    });
    expect(attributesOf(helper)).toMatchObject({
      'gen_ai.conversation.id': 'helper/blue',
      'goondan.source': 'agent/front',
    });
    expect(collector.resources()).toContainEqual(expect.objectContaining({ 'service.name': 'office' }));
    expect(new Set(collector.resources().map((resource) => resource['process.pid'])).size).toBe(2);
    expect(new Set(collector.requests.map(({ path }) => path))).toEqual(new Set(['/v1/traces']));
  });

  test('R-08 layers are spans below their chain, with their times and changes', async () => {
    const spans = spansOf(await exportPlain(), asking);
    const layers = spans.filter(({ name }) => name === 'layer layers');
    const parentOf = (span: ReceivedSpan) => spans.find(({ spanId }) => spanId === span.parentSpanId)?.name;
    const described = layers.map((span) => [parentOf(span), attributesOf(span)] as const);
    const of = (parent: string, name: string) =>
      described.filter(([at, attributes]) => at === parent && attributes['goondan.layer'] === name);
    expect(of('invoke_agent front', 'passes')).toHaveLength(1);
    expect(of('step 0', 'emits').map(([, attributes]) => attributes['goondan.message_events'])).toEqual([0]);
    expect(of('step 1', 'emits').map(([, attributes]) => attributes['goondan.message_events'])).toEqual([1]);
    expect(of('chat front-model', 'watches')).toHaveLength(2);
    expect(of('execute_tool agents__request', 'changes')[0]?.[1]).toMatchObject({ 'goondan.changed': false });
    expect(of('execute_tool probe__look', 'changes')[0]?.[1]).toEqual({
      'goondan.extension': 'layers',
      'goondan.layer': 'changes',
      'goondan.kind': 'toolCall',
      'goondan.own_time_ms': expect.any(Number),
      'goondan.outcome': 'passed',
      'goondan.changed': true,
      'goondan.result_changed': false,
      'goondan.message_events': 0,
    });
  });

  test('R-08 spans are OTLP/JSON: ids in hexadecimal digits, times and whole numbers as texts', async () => {
    const { spans } = await exportPlain();
    for (const span of spans) {
      expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
      expect([span.spanId, span.parentSpanId ?? span.spanId].filter((id) => !isSpanId(id))).toEqual([]);
      expect(span.startTimeUnixNano).toMatch(/^\d{19}$/);
      expect(span.endTimeUnixNano).toMatch(/^\d{19}$/);
      expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
      for (const { value } of span.attributes) {
        const [[type, held] = []] = Object.entries(value);
        expect(['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue']).toContain(type ?? '');
        if (type === 'intValue') expect(held).toMatch(/^-?\d+$/);
      }
    }
  });

  test('R-08 a tool gets the trace to pass on, under its own span', async () => {
    const look = find(spansOf(await exportContents(), asking), 'execute_tool probe__look');
    expect(attributesOf(look)['gen_ai.tool.call.result']).toContain(`00-${asking.traceId}-${look.spanId}-01`);
  });

  testInProof('is exported even when no trace is written', async () => {
    const { spans } = await exportOf([asking], { GOONDAN_TRACE: 'off' });
    expect(dangling(spans)).toEqual([]);
    find(spans, 'invoke_agent helper');
    expect(spans.filter(({ name }) => name === 'layer layers').length).toBeGreaterThan(5);
  });

  test('R-08 has its own trace when the caller has none, or a malformed one', async () => {
    const others = new Set(recorded.map(({ traceId }) => traceId));
    const spans = (await exportPlain()).spans.filter(({ traceId }) => !others.has(traceId));
    const front = find(spans, 'invoke_agent front');
    expect(front).not.toHaveProperty('parentSpanId');
    expect(front.kind).toBe(internal);
    expect(new Set(spans.map((span) => span.traceId)).size).toBe(1);
    expect(front.traceId).not.toContain(malformed.traceId);
  });

  testInProof('is not exported by any agent when the caller does not record it', async () => {
    const exported = await exportPlain();
    expect(spansOf(exported, asking)).not.toEqual([]);
    expect(bodiesOf(exported)).not.toContain(unrecorded.traceId);
  });
});

describe('the operator’s sampling', () => {
  test('none: no agent exports, whatever the caller says', async () => {
    const { collector } = await exportOf([asking], { OTEL_TRACES_SAMPLER: 'always_off' });
    expect(collector.requests).toEqual([]);
  });

  testInProof('all: even traces that the caller does not record; tools pass this on', async () => {
    const { spans } = await exportOf([unrecorded], { OTEL_TRACES_SAMPLER: 'always_on', ...capture });
    find(spans, 'invoke_agent helper');
    const look = find(spans, 'execute_tool probe__look');
    expect(attributesOf(look)['gen_ai.tool.call.result']).toContain(`00-${unrecorded.traceId}-${look.spanId}-01`);
  });
});

describe('failures', () => {
  test('R-08 a retried step is two spans, each with its call', async () => {
    const spans = spansOf(await exportPlain(), retried);
    const front = find(spans, 'invoke_agent front');
    const [first, second] = [find(spans, 'step 0', front), find(spans, 'step 1', front)];
    expect(first.status.code).toBe(FAILED);
    expect(attributesOf(first)).toMatchObject({ 'error.type': 'E_MODEL_FAILED', 'goondan.retry_ms': 1 });
    expect(find(spans, 'chat front-model', first).status.code).toBe(FAILED);
    expect([second.status, find(spans, 'chat front-model', second).status, front.status]).toEqual([{}, {}, {}]);
  });

  test('a tool that throws and a failing turn have the code of the error, without its message', async () => {
    const exported = await exportPlain();
    const spans = spansOf(exported, breaking);
    const call = find(spans, 'execute_tool probe__break');
    expect([attributesOf(call)['error.type'], call.status]).toEqual(['E_PROBE', { code: FAILED }]);
    expect(find(spans, 'invoke_agent front').status).toEqual({});

    const failed = spansOf(exported, failing);
    const turn = find(failed, 'invoke_agent front');
    expect([attributesOf(turn)['error.type'], turn.status]).toEqual(['E_MODEL_FAILED', { code: FAILED }]);
    expect(dangling(failed)).toEqual([]);
  });

  test('R-08 a turn that continues after a crash is one connected trace, and no span is sent twice', async () => {
    using collector = startCollector();
    await using office = await startOffice({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const answered = office.post('die', { traceparent: headerOf(asking) });
    await until(() => collector.spans().some(({ name }) => name.startsWith('chat')));
    writeFileSync(join(office.workdir, 'die-now'), '');
    expect((await answered).status).toBe(200);
    await office.stop();
    const spans = collector.spans();
    const front = find(spans, 'invoke_agent front');
    expect(attributesOf(front)['goondan.resumed']).toBe(true);
    expect(dangling(spans)).toEqual([]);
    const step = find(spans, 'step 0', front);
    // The model was called before the crash, and the tool ran again after it.
    const chat = find(spans, 'chat front-model', step);
    const look = find(spans, 'execute_tool probe__look', step);
    expect(BigInt(chat.endTimeUnixNano) < BigInt(look.startTimeUnixNano)).toBe(true);
    expect(BigInt(front.startTimeUnixNano) <= BigInt(chat.startTimeUnixNano)).toBe(true);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  });
});

describe('contents', () => {
  test('are not exported unless the operator says so: no message, call or answer leaves', async () => {
    const sent = bodiesOf(await exportPlain());
    expect(sent).toContain('invoke_agent helper');
    expect(canaries.exec(sent)?.[0]).toBeUndefined();
  });

  test('are in the spans when the operator says so: messages, instructions, arguments, results, reasons', async () => {
    const sent = bodiesOf(await exportContents());
    const found = new Set(sent.match(new RegExp(canaries, 'g')));
    expect([...found].toSorted()).toEqual([
      'ANSWER-CANARY',
      'ARGUMENT-CANARY',
      'CHANGED-CANARY',
      'EMITTED-CANARY',
      'FAILURE-CANARY',
      'INPUT-CANARY',
      'PROMPT-CANARY',
      'RESULT-CANARY',
    ]);
    for (const name of [
      'gen_ai.input.messages',
      'gen_ai.output.messages',
      'gen_ai.system_instructions',
      'gen_ai.tool.call.arguments',
      'gen_ai.tool.call.result',
    ]) {
      expect(sent).toContain(`"key":"${name}"`);
    }
  });
});

test('the headers of the collector reach it, and are written nowhere', async () => {
  using collector = startCollector();
  const key = 'collector-key-0123456789';
  await using office = await startOffice({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/my/own/path`,
    OTEL_EXPORTER_OTLP_HEADERS: `api-key=${key},x-tenant=a%20b`,
    OTEL_SERVICE_NAME: 'the-desk',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  });
  await office.post('ask INPUT-CANARY');
  await office.stop();
  const [first] = collector.requests;
  expect([first?.path, first?.headers.get('api-key'), first?.headers.get('x-tenant')]).toEqual([
    '/my/own/path',
    key,
    'a b',
  ]);
  expect(first?.headers.get('content-type')).toBe('application/json');
  expect(collector.resources()[0]).toMatchObject({
    'service.name': 'the-desk',
    'deployment.environment.name': 'test',
    'goondan.swarm': 'office',
  });
  const files = readdirSync(office.stateRoot, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  expect(files.length).toBeGreaterThan(5);
  const holding = files.filter((file) => readFileSync(join(file.parentPath, file.name), 'latin1').includes(key));
  expect([holding.map(({ name }) => name), JSON.stringify(office.lines).includes(key)]).toEqual([[], false]);
});
