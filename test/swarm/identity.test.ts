// Tests the identity of the caller, its authentication and its trace. The orchestrator adds these to an event, and they
// are the same in every process.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { newTraceId } from '@goondan/runtime/control';
import { logsFolder } from '../../packages/runtime/src/workspace/layout/instance-paths.ts';
import { heardBy, startTestSwarm, type TestSwarm, waitForHeard } from './start-test-swarm.ts';
import { until } from '../until.ts';

setDefaultTimeout(60_000);

const auth = { user: 'ann', roles: ['guest'], session: { id: 7, since: '2026-01-01' } };

describe('the caller', () => {
  test('A-09 auth of a delivery arrives unchanged at every called agent, by request or send', async () => {
    const watched = ['b', 'c'].map((name) => ({ name, extensions: ['witness'] }));
    await using running = await startTestSwarm({ agents: ['a', ...watched] });
    const onwards = { name: 'onwards', steps: [{ ask: { target: 'c', input: 'hello' } }] };
    await running.run('a', [{ ask: { target: 'b', errand: onwards } }, { tell: { target: 'b', errand: onwards } }], {
      auth,
    });
    const heard = [...(await waitForHeard(running, 'b', 2)), ...(await waitForHeard(running, 'c', 2))];
    expect(heard.map((event) => event.auth)).toEqual([auth, auth, auth, auth]);
    expect(heard.map(({ source }) => source)).toEqual(['a', 'a', 'b', 'b'].map((name) => ({ kind: 'agent', name })));
    // If the caller has no `auth`, the called agent gets none.
    await running.run('a', [{ ask: { target: 'c', input: 'without' } }]);
    expect(heardBy(running, 'c').at(-1)).toMatchObject({ input: 'without' });
    expect(heardBy(running, 'c').at(-1)).not.toHaveProperty('auth');
  });

  test('A-09 bundle code can neither set nor change it: not through its event, and not through its calls', async () => {
    await using running = await startTestSwarm({
      agents: [
        { name: 'a', extensions: ['impostor'] },
        { name: 'b', extensions: ['witness'] },
      ],
    });
    const traceId = newTraceId();
    await running.say('a', 'hello', { auth, traceId, metadata: { target: 'b' } });
    const heard = await waitForHeard(running, 'b', 2);
    const stamped = { auth, traceId, source: { kind: 'agent', name: 'a' } };
    expect(heard).toMatchObject([
      { ...stamped, input: 'asked' },
      { ...stamped, input: 'told' },
    ]);
    // An `auth` in the metadata has no effect.
    expect(heard[0]?.metadata).toMatchObject({ auth: { user: 'mallory' } });
    expect(heard[0]?.callChain).toEqual([{ agentName: 'a', instanceKey: 'default' }]);
    expect(heard[0]?.parentSpanId).not.toBe('f'.repeat(16));
    // Each attempt of the agent to change its own event threw at once.
    const changes = running.notes().find(({ what, errand }) => what === 'layer' && errand === 'changes');
    expect(changes?.about).toEqual(Array(5).fill(expect.stringMatching(/^TypeError/)));
    // A call that claims another identity is refused.
    const claims = running.notes().find(({ what, errand }) => what === 'layer' && errand === 'claims');
    expect(claims?.about).toEqual(Array(10).fill('E_AGENT_REQUEST'));
    // An agent without an identity cannot get one.
    await running.say('a', 'hello', { metadata: { target: 'b' }, instanceKey: 'nobody' });
    const later = await waitForHeard(running, 'b', 4);
    for (const event of later.slice(2)) expect(event).not.toHaveProperty('auth');
  });
});

interface Span {
  readonly name: string;
  readonly agent: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly toolName?: string;
  readonly stepIndex?: number;
}

function spansOf({ events }: TestSwarm): readonly Span[] {
  // The cast is safe: payloads of runtime events contain span fields (packages/types).
  return events.map(({ at, name, payload }) => ({ ...(payload as unknown as Span), name, agent: at.agent }));
}

/** Returns the only matching span; fails if there are several or none. */
function only(spans: readonly Span[], like: Partial<Span>): Span {
  const found = spans.filter((span) => Object.entries(like).every(([key, value]) => span[key as keyof Span] === value));
  const [first] = found;
  if (first === undefined || found.length > 1) throw new Error(`${found.length} spans: ${JSON.stringify(like)}`);
  return first;
}

/** Reads the spans from the trace files of an agent. */
function writtenSpans({ workspace }: TestSwarm, agentName: string): readonly Span[] {
  const lines = readFileSync(`${logsFolder(workspace)}/runtime-events.000001.jsonl`, 'utf8')
    .trim()
    .split(/\n+/);
  return lines.flatMap((line) => {
    const { instance, name, payload } = JSON.parse(line);
    return instance === `${agentName}~default` ? { ...payload, name, agent: agentName } : [];
  });
}

describe('the trace', () => {
  test("A-07 R-08 continues in the called agent: the same traceId, and the span of the tool call is its turn's parent", async () => {
    await using running = await startTestSwarm({ agents: ['a', 'b', 'c'] });
    const traceId = newTraceId();
    const onwards = { name: 'onwards', steps: [{ ask: { target: 'c', input: 'hello' } }] };
    await running.run('a', [{ ask: { target: 'b', errand: onwards } }], { traceId });
    await until(() => spansOf(running).filter(({ name }) => name === 'turn.completed').length === 3, {
      about: 'all is told',
    });
    const spans = spansOf(running);
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
    expect(only(spans, { name: 'turn.started', agent: 'a' })).not.toHaveProperty('parentSpanId');
    for (const [caller, callee] of [
      ['a', 'b'],
      ['b', 'c'],
    ] as const) {
      const asking = only(spans, { name: 'tool.called', agent: caller });
      expect(only(spans, { name: 'turn.started', agent: callee }).parentSpanId).toBe(asking.spanId);
      expect(only(spans, { name: 'turn.completed', agent: callee }).parentSpanId).toBe(asking.spanId);
    }
    // The span ids are unique across all three processes.
    const started = spans.filter(({ name }) => /\.(?:started|called)$/.test(name));
    expect(new Set(started.map(({ spanId }) => spanId)).size).toBe(started.length);
    expect(running.ends.map((end) => end.traceId)).toEqual([traceId, traceId, traceId]);
  });

  test('A-07 R-08 is written beside each conversation, equal to the reported events', async () => {
    await using running = await startTestSwarm({ agents: ['a', 'b'] });
    await running.say('a', 'ask b hello');
    await running.swarm.stop();
    for (const agent of ['a', 'b']) {
      expect(writtenSpans(running, agent)).toEqual(spansOf(running).filter((span) => span.agent === agent));
    }
    const asking = only(writtenSpans(running, 'a'), { name: 'tool.called' });
    expect(only(writtenSpans(running, 'b'), { name: 'turn.started' })).toMatchObject({
      traceId: asking.traceId,
      parentSpanId: asking.spanId,
    });
  });
});
