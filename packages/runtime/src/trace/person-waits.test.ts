import { expect, test } from 'bun:test';
import type { ApprovalOutcome, PersonApi, ToolCallMiddleware } from '@goondan/types';
import { decodeTraceLines } from './decode-trace-lines.ts';
import { encodeTraceLine } from './encode-trace-line.ts';
import { recordTurn } from './record-turn.ts';
import { extension, fakeApprover, inProcessEngine, manualClock, scriptedAgent } from '../testing/index.ts';
import type { QuestionOutcome } from '../questions/question-record.ts';
import { inScope } from './draw-scope.ts';
import type { EffectKind } from './effect-record.ts';
import type { SpanStart } from './layer-span.ts';
import { PersonWaits } from './person-waits.ts';
import { renderTrace } from './render-trace.ts';
import { TurnKeeper } from './turn-keeper.ts';

const script = [{ when: 'go', call: { tool: 'echo__say', args: { text: 'hi' } } }, { say: 'done' }];
const echo = {
  name: 'echo',
  exports: [{ name: 'say', description: 'Says it again.' }],
  handlers: { say: () => 'said' },
};

/**
 * Runs a tool call with one layer, and returns the layer's record and the trace as text. `inside`: the work of another
 * layer, inside the first.
 */
async function traceOf(
  make: (clock: ReturnType<typeof manualClock>) => ToolCallMiddleware,
  answers: ApprovalOutcome | ((reason: string) => Promise<ApprovalOutcome>),
  inside?: (clock: ReturnType<typeof manualClock>) => Promise<unknown>,
) {
  const clock = manualClock();
  const approver = fakeApprover(async ({ reason }) => {
    if (typeof answers === 'function') return answers(reason);
    await clock.advance(12_000);
    return answers;
  });
  const asking = extension('asking', ({ pipeline }) => {
    pipeline.register('toolCall', make(clock), { mayShortCircuit: true });
    if (inside === undefined) return;
    pipeline.register('toolCall', async (ctx) => (await inside(clock), ctx.next()), { name: 'inside' });
  });
  const agent = await scriptedAgent({ script, tools: [echo], extensions: [asking], approver, clock });
  const { trace } = await agent.say('go');
  const call = trace?.inside[0]?.inside.find(({ kind }) => kind === 'toolCall');
  return { layer: call?.layers[0], total: call?.totalMs, text: trace === undefined ? '' : renderTrace(trace) };
}

test('the time that a layer waits for a person is not its own time', async () => {
  const { layer, total, text } = await traceOf(
    (clock) => async (ctx) => {
      await clock.advance(5);
      await ctx.approval.ask({ reason: 'It talks.' });
      await clock.advance(3);
      const result = await ctx.next();
      await clock.advance(2);
      return result;
    },
    { decision: 'approved', by: 'ann' },
  );
  expect(layer).toMatchObject({
    ...{ extension: 'asking', ownMs: 10, waitedMs: 12_000, totalMs: 12_010 },
    answers: [{ decision: 'approved', by: 'ann' }],
  });
  expect(total).toBe(12_010);
  expect(text).toContain('asking own 10 ms, waited for a person 12.0 s, approved by ann');
});

test('two questions at once are one wait; a layer that asks nobody has none', async () => {
  const both = await traceOf(
    () => async (ctx) => {
      await Promise.all([ctx.approval.ask({ reason: 'One.' }), ctx.approval.ask({ reason: 'Two.' })]);
      return ctx.next();
    },
    { decision: 'approved', by: 'ann' },
  );
  expect(both.layer?.waitedMs).toBe(both.layer?.totalMs ?? 0);
  expect(both.layer?.ownMs).toBe(0);
  const silent = await traceOf(() => (ctx) => ctx.next(), { decision: 'approved', by: 'ann' });
  expect(silent.layer).not.toHaveProperty('waitedMs');
  expect(silent.layer).not.toHaveProperty('answers');
  expect(silent.text).not.toContain('waited');
});

/** Questions that the test answers one by one. */
function openQuestions() {
  const open = new Map<string, PromiseWithResolvers<ApprovalOutcome>>();
  const find = (reason: string) => open.getOrInsertComputed(reason, () => Promise.withResolvers<ApprovalOutcome>());
  return {
    answers: (reason: string) => find(reason).promise,
    answer: (reason: string) => find(reason).resolve({ decision: 'approved', by: 'ann' }),
  };
}

test('overlapping questions are one wait, from the first question to the last answer; waits are added', async () => {
  const { answers, answer } = openQuestions();
  const { layer } = await traceOf(
    (clock) => async (ctx) => {
      const first = ctx.approval.ask({ reason: 'One.' });
      await clock.advance(100);
      const second = ctx.approval.ask({ reason: 'Two.' });
      await clock.advance(10);
      answer('One.');
      await first;
      await clock.advance(1);
      answer('Two.');
      await second;
      await clock.advance(3);
      const third = ctx.approval.ask({ reason: 'Three.' });
      await clock.advance(1_000);
      answer('Three.');
      await third;
      return ctx.next();
    },
    answers,
  );
  expect(layer).toMatchObject({ ownMs: 3, waitedMs: 1_111, totalMs: 1_114 });
});

test('a question that is open when the layer calls next() may be answered inside, or after it', async () => {
  const { answers, answer } = openQuestions();
  const asking = (reason: string, waitMs: number) => (clock: ReturnType<typeof manualClock>) => {
    const layer: ToolCallMiddleware = async (ctx) => {
      await clock.advance(3);
      const question = ctx.approval.ask({ reason });
      await clock.advance(0);
      const result = await ctx.next();
      await clock.advance(waitMs);
      answer(reason);
      await question;
      await clock.advance(5);
      return result;
    };
    return layer;
  };
  const inside = await traceOf(asking('One.', 0), answers, async (clock) => {
    await clock.advance(100);
    answer('One.');
    await clock.advance(7);
  });
  expect(inside.layer).toMatchObject({ ownMs: 8, waitedMs: 100, totalMs: 115 });
  const after = await traceOf(asking('Two.', 40), answers, (clock) => clock.advance(60));
  expect(after.layer).toMatchObject({ ownMs: 8, waitedMs: 100, totalMs: 108 });
});

test('the time that a layer waits for another agent is its own time', async () => {
  const clock = manualClock();
  const engine = inProcessEngine(clock);
  engine.add('cook', async () => {
    await clock.advance(40);
    return { turnId: 'turn-1', finishReason: 'text_response' };
  });
  const asking = extension('asking', ({ pipeline }) =>
    pipeline.register('step', async (ctx) => {
      await ctx.agents.request({ target: 'cook', input: 'Soup?' });
      return ctx.next();
    }),
  );
  const agent = await scriptedAgent({ extensions: [asking], engine, clock });
  const { trace } = await agent.say('go');
  const layer = trace?.inside[0]?.layers[0];
  expect(layer).toMatchObject({ extension: 'asking', ownMs: 40 });
  expect(layer).not.toHaveProperty('waitedMs');
});

const which = {
  reason: 'Which branch?',
  form: { type: 'object', properties: { branch: { type: 'string' } }, required: ['branch'] },
};

/** Runs a turn with two tool calls at once, whose handlers may ask a person. Returns their records. */
async function callsOf(
  handlers: Readonly<Record<'one' | 'two', (person: PersonApi) => Promise<unknown>>>,
  answer: (clock: ReturnType<typeof manualClock>) => Promise<QuestionOutcome>,
) {
  const clock = manualClock();
  const observer = recordTurn(clock);
  const agent = await scriptedAgent({
    script: [{ when: 'go', calls: [{ tool: 'ask__one' }, { tool: 'ask__two' }] }, { say: 'done' }],
    tools: [
      {
        name: 'ask',
        exports: ['one', 'two'].map((name) => ({ name, description: '', parallel: true })),
        handlers: {
          one: async ({ person }) => void (await handlers.one(person)),
          two: async ({ person }) => void (await handlers.two(person)),
        },
      },
    ],
    approver: fakeApprover(() => answer(clock)),
    clock,
  });
  const calls = () => observer.turn()?.inside[0]?.inside.filter(({ kind }) => kind === 'toolCall') ?? [];
  return { calls, turn: agent.say('go', { observer }) };
}

test('N-04 the trace of a tool call has the wait for a person, the person and the door, and not the filled form', async () => {
  const { calls, turn } = await callsOf(
    { one: (person) => person.ask(which), two: async () => undefined },
    async (clock) => {
      await clock.advance(12_000);
      return { decision: 'approved', by: 'ann', via: 'chat', content: { branch: 'main' } };
    },
  );
  await turn;
  const [asking, silent] = calls();
  expect(asking).toMatchObject({
    ...{ label: 'ask__one', totalMs: 12_000, waitedMs: 12_000 },
    answers: [{ kind: 'form', decision: 'approved', by: 'ann', via: 'chat' }],
  });
  expect(JSON.stringify(asking?.answers)).not.toContain('main');
  expect(silent).not.toHaveProperty('waitedMs');
  if (asking === undefined) throw new Error('not recorded');
  const [line] = decodeTraceLines(encodeTraceLine({ type: 'chain', n: 0, chain: { ...asking, waitedMs: 0.123456 } }));
  expect(line).toMatchObject({ chain: { waitedMs: 0.123, answers: asking.answers ?? [] } });
});

test('N-04 the trace names a page that a person opened', async () => {
  const page = { reason: 'Sign in.', url: 'https://a.example/' };
  const { calls, turn } = await callsOf(
    { one: (person) => person.ask(page), two: async () => undefined },
    async () => ({ decision: 'approved', by: 'ann' }),
  );
  await turn;
  expect(calls()[0]?.answers).toEqual([{ kind: 'page', decision: 'approved', by: 'ann' }]);
});

test('the trace has the question of changed arguments, and at most 16 answers of one layer', async () => {
  const edited = { decision: 'approved', by: 'ann', args: {} } as const;
  const { layer } = await traceOf(
    () => async (ctx) => {
      for (let number = 0; number < 20; number += 1) await ctx.approval.ask({ reason: `Number ${number}.` });
      return ctx.next();
    },
    edited,
  );
  expect(layer?.answers).toHaveLength(16);
  expect(layer?.answers?.[0]).toMatchObject({ ...edited, question: expect.any(String) });
});

test('N-04 a question that comes in while another call runs is a wait of its own call', async () => {
  const own = Promise.withResolvers<PersonApi>();
  const over = Promise.withResolvers<void>();
  const { calls, turn } = await callsOf(
    {
      one: async (person) => (own.resolve(person), over.promise),
      two: async () => (await own.promise).ask(which).then(() => over.resolve()),
    },
    async () => ({ decision: 'denied', by: 'ann', via: 'cli' }),
  );
  await turn;
  expect(calls().map(({ answers }) => answers?.length)).toEqual([1, undefined]);
});

test('N-04 the trace tells of a question that is open, and of one that nobody answered', async () => {
  const asked = Promise.withResolvers<void>();
  const over = new AbortController();
  const { calls, turn } = await callsOf(
    {
      one: async (person) => person.ask({ ...which, signal: over.signal }).catch(() => undefined),
      two: async () => undefined,
    },
    async (clock) => {
      await clock.advance(5);
      asked.resolve();
      return new Promise((_, reject) => over.signal.addEventListener('abort', () => reject(new Error('over'))));
    },
  );
  await asked.promise;
  expect(calls()[0]).toMatchObject({ isUnfinished: true, askedMs: 0 });
  over.abort();
  await turn;
  expect(calls()[0]).toMatchObject({ waitedMs: 5 });
  expect(calls()[0]).not.toHaveProperty('answers');
  expect(calls()[0]).not.toHaveProperty('askedMs');
});

test('N-04 a question of a layer and of a tool is reported when it begins and when it ends, and a budget is no question', async () => {
  const clock = manualClock();
  const reported: (number | undefined)[] = [];
  const keeper = new TurnKeeper(clock, (chain) => void reported.push(chain.askedAt));
  // Safe: nothing else of the chain is used.
  const span = keeper.open({ kind: 'toolCall', label: 'x', id: 'x' } as SpanStart, undefined);
  const layer = span?.enter({ kind: 'toolCall', extension: 'asking', name: 'asking' });
  if (span === undefined || layer === undefined) throw new Error('not recorded');
  const waits = new PersonWaits();
  const begin = (key: string, kind: EffectKind) => inScope(span, () => waits.begin(key, kind));
  const end = (key: string) =>
    waits.end({ key, kind: 'approval', asked: {}, outcome: { ok: true, value: { decision: 'approved' } } });
  begin('budget', 'budget');
  await clock.advance(1);
  begin('one', 'approval');
  layer.next();
  await clock.advance(1);
  begin('two', 'approval');
  await clock.advance(1);
  end('one');
  end('two');
  // The earliest open question counts.
  expect(reported).toEqual([undefined, 1, 1, 2, undefined]);
});
