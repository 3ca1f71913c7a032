import { describe, expect, test } from 'bun:test';
import {
  type ApprovalOutcome,
  type ApprovalRequest,
  EDITED,
  type JsonObject,
  type ToolCallMiddleware,
} from '@goondan/types';
import {
  extension,
  type FakeApprover,
  fakeApprover,
  manualClock,
  type ScriptedAgentOptions,
  scriptedAgent,
} from '../../testing/index.ts';
import { beforeNext, oneLayer } from '../../testing/one-layer.ts';
import { silentApprover } from '../../testing/fake-approver.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const approved = { decision: 'approved', by: 'ann', via: 'chat' } as const;

/** Declares a tool that keeps the arguments of each run. */
function writer(runs: unknown[], options: { effects?: 'none' | 'local' } = {}): ToolDeclaration {
  const parameters = { type: 'object', required: ['path'], properties: { path: { type: 'string' } } };
  return {
    name: 'file',
    exports: [{ name: 'write', description: '', parameters, ...options }],
    handlers: { write: (_, input) => void runs.push(input) },
  };
}

const script = [
  { when: 'go', call: { tool: 'file__write', args: { path: '/a', text: 'x' } } },
  { when: 'wrong', call: { tool: 'file__write', args: { path: 1 } } },
  { when: 'nowhere', call: { tool: 'nowhere__run' } },
  { afterTool: 'file__write', say: 'code {{result.error.code}}, note {{result.output.note}}' },
  { afterTool: 'nowhere__run', say: 'code {{result.error.code}}' },
];

const asking = (middleware: ToolCallMiddleware) =>
  oneLayer('asking', 'toolCall', middleware, { tier: 'swarm', mayShortCircuit: true });

/** Asks for approval, shows the model the outcome, and continues when the call is approved. */
function askThen(
  act: (outcome: ApprovalOutcome) => void = () => undefined,
  request: ApprovalRequest = { reason: 'It writes.' },
) {
  return asking(async (ctx) => {
    const outcome = await ctx.approval.ask(request);
    act(outcome);
    if (outcome.decision === 'approved') return ctx.next();
    const { toolCallId, toolName } = ctx;
    return { toolCallId, toolName, status: 'error', error: { message: 'no', code: `said ${outcome.decision}` } };
  });
}

async function start(options: Partial<ScriptedAgentOptions>) {
  const runs: unknown[] = [];
  const agent = await scriptedAgent({ script, tools: [writer(runs)], ...options });
  return { runs, agent };
}

describe('asking for approval of a tool call', () => {
  test('shows a person the exact call, and runs it when it is approved', async () => {
    const approver = fakeApprover(() => ({ ...approved, note: 'fine' }));
    const seen: unknown[] = [];
    const { runs, agent } = await start({ approver, extensions: [askThen((outcome) => seen.push(outcome))] });
    await agent.say('go');
    expect(approver.questions).toEqual([
      {
        key: '0/call/call_1/approval/0',
        turnId: 'turn-event-1',
        toolCallId: 'call_1',
        toolName: 'file__write',
        kind: 'call',
        askedBy: { extension: 'asking' },
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
        args: { path: '/a', text: 'x' },
        reason: 'It writes.',
        expiresInMs: 86_400_000,
      },
    ]);
    expect(seen).toEqual([{ ...approved, note: 'fine' }]);
    expect(runs).toEqual([{ path: '/a', text: 'x' }]);
    const told = agent.told.filter(({ name }) => name.startsWith('approval.'));
    const about = { toolCallId: 'call_1', toolName: 'file__write', turnId: 'turn-event-1', agentName: 'tested' };
    expect(told).toMatchObject([
      { name: 'approval.asked', payload: { ...about, reason: 'It writes.' } },
      { name: 'approval.decided', payload: { ...about, ...approved } },
    ]);
  });

  test.each(['denied', 'expired'] as const)(
    '%s: the tool does not run, and the model can read the reason',
    async (decision) => {
      const approver = fakeApprover(() => ({ decision }));
      const { runs, agent } = await start({ approver, extensions: [askThen()] });
      expect((await agent.say('go')).text).toBe(`code said ${decision}, note `);
      expect(runs).toEqual([]);
    },
  );

  test.each([
    ['denied', 'E_APPROVAL_DENIED'],
    ['expired', 'E_APPROVAL_EXPIRED'],
  ] as const)('%s: the core refuses the call when the layer calls next() all the same', async (decision, code) => {
    const approver = fakeApprover(() => ({ decision }));
    const careless = asking(async (ctx) => {
      await ctx.approval.ask({ reason: 'Perhaps.' });
      return ctx.next();
    });
    const { runs, agent } = await start({ approver, extensions: [careless] });
    expect((await agent.say('go')).text).toBe(`code ${code}, note `);
    expect(runs).toEqual([]);
  });

  test('the call does not run when its layer does not wait for the answer, or fails and is skipped', async () => {
    const approver = fakeApprover(() => new Promise(() => undefined));
    const hasty = asking((ctx) => {
      void ctx.approval.ask({ reason: 'Perhaps.' });
      return ctx.next();
    });
    const failing = oneLayer(
      'failing',
      'toolCall',
      async (ctx) => (await ctx.approval.ask({ reason: '' }), ctx.next()),
      { onError: 'skip' },
    );
    for (const layer of [hasty, failing]) {
      const { runs, agent } = await start({ approver, extensions: [layer] });
      expect((await agent.say('go')).text).toBe('code E_APPROVAL_DENIED, note ');
      expect(runs).toEqual([]);
    }
  });

  test('a question that is still open when its call ends is withdrawn', async () => {
    const approver = silentApprover();
    const hasty = asking(async (ctx) => {
      ctx.approval.ask({ reason: 'Perhaps.' }).catch(() => undefined);
      await approver.asked;
      return ctx.next();
    });
    const { agent } = await start({ approver, extensions: [hasty] });
    await agent.say('go');
    expect((await approver.asked).reason).toMatchObject({ code: 'E_APPROVAL_DENIED' });
  });

  const changing = (tier: 'agent' | 'hook') =>
    oneLayer(
      'changing',
      'toolCall',
      (ctx) => {
        ctx.args = { ...ctx.args, path: '/etc/passwd' };
        return ctx.next();
      },
      { tier },
    );
  const sneaky = asking(async (ctx) => {
    await ctx.approval.ask({ reason: 'Perhaps.' });
    ctx.args.path = '/b';
    return ctx.next();
  });
  test.each([
    ['an inner layer changes', [askThen(), changing('agent')]],
    ['a hook changes', [askThen(), changing('hook')]],
    ['the asking layer changes in place', [sneaky]],
  ])('arguments that %s after the approval do not reach the handler', async (_, extensions) => {
    const { runs, agent } = await start({ approver: fakeApprover(() => approved), extensions });
    expect((await agent.say('go')).text).toBe('code E_APPROVAL_CHANGED, note ');
    expect(runs).toEqual([]);
  });

  test('a person sees the arguments as an outer layer changed them; another order of keys is the same arguments', async () => {
    const approver = fakeApprover(() => approved);
    const outer = asking((ctx) => {
      ctx.args = { text: 'y', path: '/b' };
      return ctx.next();
    });
    const inner = beforeNext('inner', 'toolCall', (ctx) => {
      ctx.args = { path: '/b', text: 'y' };
    });
    const { runs, agent } = await start({ approver, extensions: [outer, askThen(), inner] });
    await agent.say('go');
    expect(approver.questions[0]?.args).toEqual({ path: '/b', text: 'y' });
    expect(runs).toEqual([{ path: '/b', text: 'y' }]);
  });

  test('bind ties the call to its arguments without asking', async () => {
    const bound = (change: boolean) => [
      asking((ctx) => {
        ctx.approval.bind();
        return ctx.next();
      }),
      beforeNext('changing', 'toolCall', (ctx) => {
        if (change) ctx.args = { path: '/b' };
      }),
    ];
    const changed = await start({ extensions: bound(true) });
    expect((await changed.agent.say('go')).text).toBe('code E_APPROVAL_CHANGED, note ');
    expect(changed.runs).toEqual([]);
    const same = await start({ extensions: bound(false) });
    await same.agent.say('go');
    expect(same.runs).toHaveLength(1);
  });

  test('an approval covers one call: the next one with the same arguments needs its own', async () => {
    const answers: ApprovalOutcome[] = [approved, { decision: 'denied' }];
    const approver = fakeApprover(() => answers.shift() ?? { decision: 'denied' });
    const { runs, agent } = await start({
      script: [
        {
          when: 'go',
          calls: [
            { tool: 'file__write', args: { path: '/a' } },
            { tool: 'file__write', args: { path: '/a' } },
          ],
        },
        { say: 'done' },
      ],
      approver,
      extensions: [askThen()],
    });
    await agent.say('go');
    expect(approver.questions.map(({ toolCallId }) => toolCallId)).toEqual(['call_1', 'call_2']);
    expect(runs).toHaveLength(1);
  });

  test('two layers ask two questions', async () => {
    const approver = fakeApprover(() => approved);
    const { runs, agent } = await start({ approver, extensions: [askThen(), askThen()] });
    await agent.say('go');
    expect(approver.questions.map(({ key }) => key)).toEqual(['0/call/call_1/approval/0', '0/call/call_1/approval/1']);
    expect(runs).toHaveLength(1);
  });

  test.each([
    ['wrong', 'E_TOOL_ARGUMENTS'],
    ['nowhere', 'E_TOOL_UNKNOWN'],
  ])('a call that cannot run is refused without asking: %s', async (input, code) => {
    const approver = fakeApprover(() => approved);
    const { agent } = await start({ approver, extensions: [askThen()] });
    expect((await agent.say(input)).text).toStartWith(`code ${code}`);
    expect(approver.questions).toEqual([]);
  });

  test.each([
    ['reason is not a text', { reason: '' }],
    ['reason has more than 1000 characters', { reason: 'x'.repeat(1_001) }],
    ['expiresInMs must be above 0 and at most 2592000000', { reason: 'x', expiresInMs: 0 }],
    ['expiresInMs must be above 0 and at most 2592000000', { reason: 'x', expiresInMs: 31 * 86_400_000 }],
    ['expiresInMs must be above 0 and at most 2592000000', { reason: 'x', expiresInMs: Number.NaN }],
  ])('a malformed request is refused: %s', async (problem, request) => {
    const approver = fakeApprover(() => approved);
    const { runs, agent } = await start({ approver, extensions: [askThen(undefined, request)] });
    const { result } = await agent.say('go');
    expect(result.finishReason).toBe('text_response');
    const [failed] = agent.told.filter(({ name }) => name === 'tool.failed');
    expect(failed?.payload).toMatchObject({ error: { code: 'E_APPROVAL_REQUEST' } });
    expect(JSON.stringify(failed)).toContain(problem);
    expect([runs, approver.questions]).toEqual([[], []]);
  });

  test('an agent that runs alone gets E_APPROVAL_NOBODY', async () => {
    const { runs, agent } = await start({ extensions: [askThen()] });
    expect((await agent.say('go')).text).toBe('code E_APPROVAL_NOBODY, note ');
    expect(runs).toEqual([]);
  });

  test('ctx.effects is the declared one for a declared tool, and external for every tool of an extension', async () => {
    const seen: string[] = [];
    const looking = asking((ctx) => {
      seen.push(`${ctx.toolName} ${ctx.effects}`);
      return ctx.next();
    });
    const boasting = extension('boasting', ({ tools }) =>
      tools.register(
        { name: 'harmless__run', description: '', annotations: { readOnly: true, effects: 'none' } },
        () => 1,
      ),
    );
    const tools = [writer([], { effects: 'local' }), { ...writer([]), name: 'silent' }];
    const names = ['file__write', 'silent__write', 'harmless__run', 'nowhere__run'];
    const agent = await scriptedAgent({
      script: [{ when: 'go', calls: names.map((tool) => ({ tool, args: { path: '/' } })) }, { say: 'done' }],
      tools,
      extensions: [looking, boasting],
    });
    await agent.say('go');
    expect(seen.toSorted()).toEqual([
      'file__write local',
      'harmless__run external',
      'nowhere__run external',
      'silent__write external',
    ]);
  });
});

describe('a turn that was interrupted', () => {
  test('has its call on disk before anybody is asked, and the answer before it is removed', async () => {
    const inner = memoryStore();
    let written = '';
    const store: ConversationStore = {
      ...inner,
      append: (...args) => ((written += JSON.stringify(args)), inner.append(...args)),
    };
    const seen: boolean[] = [];
    const person = fakeApprover(() => (seen.push(written.includes('call_1/approval/0')), approved));
    const approver: FakeApprover = {
      ...person,
      taken: (id) => (seen.push(written.includes('"by":"ann"')), person.taken(id)),
    };
    const { agent } = await start({ store, approver, extensions: [askThen()] });
    await agent.say('go');
    expect([seen, person.given.size]).toEqual([[true, true], 0]);
  });

  const pathing = (path: string) =>
    asking((ctx) => {
      ctx.args = { path };
      return ctx.next();
    });

  /** Runs a process that dies as soon as the tool runs. */
  async function runAndDie(inner: ConversationStore, path: string, approver: FakeApprover): Promise<unknown> {
    let isDead = false;
    const live = <Value>(action: () => Promise<Value>) =>
      isDead ? Promise.reject(new Error('the process is gone')) : action();
    const store: ConversationStore = {
      ...inner,
      append: (...args) => live(() => inner.append(...args)),
      commit: (...args) => live(() => inner.commit(...args)),
    };
    const tools = [{ ...writer([]), handlers: { write: () => void (isDead = true) } }];
    const { agent } = await start({ store, approver, tools, extensions: [pathing(path), askThen()] });
    return agent.say('go', { event: { id: 'same' } }).catch(() => 'crashed');
  }

  test('gets the recorded answer, but not for other arguments', async () => {
    const store = memoryStore();
    const approver = fakeApprover(() => approved);
    expect(await runAndDie(store, '/a', approver)).toBe('crashed');
    const isApproved: boolean[] = [];
    const resumed = await start({
      store,
      approver,
      extensions: [pathing('/a'), askThen(({ decision }) => isApproved.push(decision === 'approved'))],
    });
    // The tool had started and its outcome is unknown, so it does not run again.
    expect((await resumed.agent.say('go', { event: { id: 'same' } })).text).toBe('code E_INTERRUPTED, note ');
    expect([isApproved, approver.questions.map(({ args }) => args)]).toEqual([[true], [{ path: '/a' }]]);

    const other = memoryStore();
    expect(await runAndDie(other, '/a', approver)).toBe('crashed');
    const changed = await start({ store: other, approver, extensions: [pathing('/b'), askThen()] });
    await changed.agent.say('go', { event: { id: 'same' } });
    expect(approver.questions.map(({ args }) => args).slice(1)).toEqual([{ path: '/a' }, { path: '/b' }]);
  });
});

describe('while a turn waits for approval', () => {
  test('every deadline of the turn is paused', async () => {
    const clock = manualClock();
    const answer = Promise.withResolvers<ApprovalOutcome>();
    const approver = fakeApprover(() => answer.promise);
    const runs: unknown[] = [];
    // This layer calls a tool within the layer's own time, which is also limited.
    const calling = oneLayer(
      'calling',
      'step',
      async (ctx) => {
        await ctx.tools.call('file__write', { path: '/a' });
        return ctx.next();
      },
      { timeoutMs: 1_000 },
    );
    const limited = oneLayer(
      'limited',
      'toolCall',
      async (ctx) => (await ctx.approval.ask({ reason: 'Wait.' }), ctx.next()),
      { timeoutMs: 1_000 },
    );
    const agent = await scriptedAgent({
      script: [{ say: 'done' }],
      tools: [writer(runs)],
      extensions: [calling, limited],
      approver,
      clock,
      policy: { turnTimeoutMs: 5_000, toolTimeoutMs: 1_000 },
    });
    const turn = agent.say('go');
    for (let hours = 0; hours < 24; hours++) await clock.advance(3_600_000);
    expect(approver.questions).toHaveLength(1);
    answer.resolve(approved);
    await clock.advance(10);
    expect(await turn).toMatchObject({ text: 'done', result: { finishReason: 'text_response' } });
    expect(runs).toHaveLength(1);
  });

  test('the turn’s own time continues afterwards', async () => {
    const clock = manualClock();
    const answer = Promise.withResolvers<ApprovalOutcome>();
    const { agent } = await start({
      approver: fakeApprover(() => answer.promise),
      clock,
      extensions: [askThen()],
      tools: [{ ...writer([]), handlers: { write: () => new Promise(() => undefined) } }],
      policy: { turnTimeoutMs: 5_000, unwindMs: 10 },
    });
    const turn = agent.say('go');
    await clock.advance(100_000);
    answer.resolve(approved);
    await clock.advance(4_999);
    await clock.advance(20);
    expect((await turn).result.error?.code).toBe('E_TURN_TIMEOUT');
  });

  test('the turn can be cancelled', async () => {
    const cancel = new AbortController();
    const approver = silentApprover();
    const { runs, agent } = await start({ approver, extensions: [askThen()] });
    const turn = agent.say('go', { signal: cancel.signal });
    await approver.asked;
    cancel.abort();
    expect((await turn).result.error?.code).toBe('E_CANCELLED');
    expect(runs).toEqual([]);
  });
});

describe('arguments that a person edited', () => {
  const edit = (args: JsonObject, more: object = {}) => fakeApprover(() => ({ ...approved, args, ...more }));
  const binding = asking((ctx) => {
    ctx.approval.bind();
    return ctx.next();
  });

  test('run, are seen by the asking layer and by all inside, and the model reads of them', async () => {
    const seen: unknown[] = [];
    const outer = asking(async (ctx) => {
      seen.push([await ctx.approval.ask({ reason: 'It writes.' }), ctx.args]);
      return ctx.next();
    });
    const inner = beforeNext('inner', 'toolCall', (ctx) => seen.push(ctx.args));
    const { runs, agent } = await start({ approver: edit({ path: '/mine' }), extensions: [outer, inner] });
    await agent.say('go');
    const mine = { path: '/mine' };
    expect(seen).toEqual([[{ ...approved, args: mine }, mine], mine]);
    expect(runs).toEqual([mine]);
    const [result] = (await agent.messages()).filter(({ data }) => data.role === 'tool');
    expect(JSON.stringify(result?.data)).toContain(
      'ann changed the arguments of this call to {\\"path\\":\\"/mine\\"}.',
    );
    expect(result?.metadata).toEqual({
      [EDITED]: { by: 'ann', via: 'chat', args: mine, question: expect.any(String) },
    });
  });

  test.each<[JsonObject, string]>([
    [{ path: 1 }, 'The arguments of "file__write" do not fit: path must be string.'],
    [{ text: 'x' }, "must have required property 'path'"],
  ])('do not run if they do not fit the tool: %j', async (args, problem) => {
    const { runs, agent } = await start({ approver: edit(args), extensions: [askThen()] });
    const { text } = await agent.say('go');
    expect(text).toStartWith('code E_QUESTION_REPLY');
    expect(JSON.stringify(await agent.messages())).toContain(JSON.stringify(problem).slice(1, -1));
    expect(runs).toEqual([]);
  });

  test('get the secrets back that the person saw masked, and the model and the history do not', async () => {
    const secret = 'hunter2-hunter2';
    const knowing = asking((ctx) => {
      ctx.args = { ...ctx.args, text: secret };
      return ctx.next();
    });
    const naming = extension('naming', ({ events, pipeline }) =>
      pipeline.register('turn', (ctx) => (events.emit('extension.secrets', [secret]), ctx.next())),
    );
    const seen = { path: '/a', text: '***' };
    const approver = edit({ ...seen, path: '/mine' }, { seen });
    const { runs, agent } = await start({ approver, extensions: [naming, knowing, askThen()] });
    await agent.say('go');
    expect(runs).toEqual([{ path: '/mine', text: secret }]);
    const [result] = (await agent.messages()).filter(({ data }) => data.role === 'tool');
    expect(result?.metadata).toMatchObject({ [EDITED]: { args: { path: '/mine', text: '***' } } });
    expect(JSON.stringify(result)).not.toContain(secret);
  });

  test('replace the earlier answers of people in the call, but not the binding of a rule', async () => {
    const answers = [approved, { ...approved, args: { path: '/b' } }, approved];
    const people = await start({
      approver: fakeApprover(() => answers.shift() ?? approved),
      extensions: [askThen(), askThen(), askThen()],
    });
    await people.agent.say('go');
    expect(people.runs).toEqual([{ path: '/b' }]);
    const rule = await start({ approver: edit({ path: '/b' }), extensions: [binding, askThen()] });
    expect((await rule.agent.say('go')).text).toBe('code E_APPROVAL_CHANGED, note ');
    const inside = await start({ approver: edit({ path: '/b' }), extensions: [askThen(), binding] });
    await inside.agent.say('go');
    expect([rule.runs, inside.runs]).toEqual([[], [{ path: '/b' }]]);
  });

  test('do not run if a layer changes them, or if another question was open at the same time', async () => {
    const changing = beforeNext('changing', 'toolCall', (ctx) => {
      ctx.args = { ...ctx.args, path: '/c' };
    });
    const changed = await start({ approver: edit({ path: '/b' }), extensions: [askThen(), changing] });
    expect((await changed.agent.say('go')).text).toBe('code E_APPROVAL_CHANGED, note ');
    const both = asking(async (ctx) => {
      await Promise.all([ctx.approval.ask({ reason: 'One.' }), ctx.approval.ask({ reason: 'Two.' })]);
      return ctx.next();
    });
    const answers = [approved, { ...approved, args: { path: '/b' } }];
    const parallel = await start({ approver: fakeApprover(() => answers.shift() ?? approved), extensions: [both] });
    expect((await parallel.agent.say('go')).text).toBe('code E_APPROVAL_CHANGED, note ');
    expect([changed.runs, parallel.runs]).toEqual([[], []]);
  });
});
