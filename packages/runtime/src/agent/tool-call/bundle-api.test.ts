import { describe, expect, test } from 'bun:test';
import type { ApprovalOutcome, BundleApi, ChangesetCommitResult, JsonValue } from '@goondan/types';
import { GoondanError } from '@goondan/types';
import {
  type FakeApprover,
  fakeApprover,
  type FakeChangesets,
  fakeChangesets,
  manualClock,
  type ScriptedAgentOptions,
  scriptedAgent,
} from '../../testing/index.ts';
import { beforeNext } from '../../testing/one-layer.ts';
import { silentApprover } from '../../testing/fake-approver.ts';
import { recordInMemory } from '../../testing/record-in-memory.ts';
import { digestJson } from '../../json/digest-json.ts';
import { systemClock } from '../../ports/clock.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import { openScriptedModel } from '../model/scripted/open-scripted-model.ts';
import { replayTurn } from '../replay/replay-turn.ts';
import type { Changesets } from '../seams/changesets.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const approved = { decision: 'approved', by: 'ann' } as const;
const script = [
  { when: 'go', call: { tool: 'bundle__use' } },
  { afterTool: 'bundle__use', say: '{{result.status}}{{result.error.code}}' },
];

/** Declares a tool with one export that uses `ctx.bundle`. */
function using(act: (bundle: BundleApi) => Promise<JsonValue | void>, idempotent = true): ToolDeclaration {
  return {
    name: 'bundle',
    exports: [{ name: 'use', description: '', effects: 'local', idempotent }],
    handlers: { use: ({ bundle }) => act(bundle) },
  };
}

const committing = using((bundle) => bundle.commit('changeset-1'));

/** Returns a fake bundle with a changeset that changes `a` and adds `b`. */
async function edited(options: Parameters<typeof fakeChangesets>[0] = {}): Promise<FakeChangesets> {
  const changesets = fakeChangesets({ files: { a: 'old' }, ...options });
  const { signal } = new AbortController();
  await changesets.ask({ kind: 'open' }, signal);
  await changesets.ask({ kind: 'write', changesetId: 'changeset-1', path: 'a', content: 'new' }, signal);
  await changesets.ask({ kind: 'write', changesetId: 'changeset-1', path: 'b', content: 'more' }, signal);
  return changesets;
}

/** Lists what reaches the outside, in order. */
function watched(changesets: Changesets, approver: FakeApprover) {
  const calls: string[] = [];
  const both = {
    changesets: {
      ...changesets,
      async ask(request, signal) {
        calls.push(request.kind);
        const answer = await changesets.ask(request, signal);
        calls.push(`${request.kind} ended`);
        return answer;
      },
    } satisfies Changesets,
    approver: {
      ...approver,
      ask(question, signal) {
        calls.push('question');
        return approver.ask(question, signal);
      },
      taken(id) {
        calls.push('taken');
        approver.taken(id);
      },
    } satisfies FakeApprover,
  };
  return { calls, ...both };
}

function start(options: Partial<ScriptedAgentOptions>) {
  return scriptedAgent({ script, tools: [committing], ...options });
}

describe('ctx.bundle.commit', () => {
  test('L-05 asks a person about the difference, commits it, and lets the approval go only then', async () => {
    const changesets = await edited();
    const approver = fakeApprover(() => approved);
    const { calls, ...seams } = watched(changesets, approver);
    const agent = await start(seams);
    expect((await agent.say('go')).text).toBe('ok');
    expect(calls).toEqual(['review', 'review ended', 'question', 'commit', 'commit ended', 'taken']);
    expect(approver.questions).toEqual([
      {
        key: '0/call/call_1/change/approval/0',
        turnId: 'turn-event-1',
        toolCallId: 'call_1',
        toolName: 'bundle__use',
        kind: 'change',
        args: {
          changesetId: 'changeset-1',
          digest: digestJson({ a: 'new', b: 'more' }),
          files: [
            { path: 'a', change: 'changed', diff: '-old\n+new' },
            { path: 'b', change: 'added', diff: '+more' },
          ],
        },
        reason: 'Agent tested wants to change 2 files of its bundle.',
        expiresInMs: 3_600_000,
      },
    ]);
    expect(changesets.requests.at(-1)).toEqual({
      kind: 'commit',
      changesetId: 'changeset-1',
      digest: digestJson({ a: 'new', b: 'more' }),
      approvalId: expect.any(String),
    });
    expect([...changesets.files]).toEqual([
      ['a', 'new'],
      ['b', 'more'],
    ]);
  });

  test('L-05 publishes the outcome as a runtime event, with the span of the tool call', async () => {
    const agent = await start({ changesets: await edited(), approver: fakeApprover(() => approved) });
    await agent.say('go');
    const called = agent.told.find(({ name }) => name === 'tool.called');
    const told = agent.told.filter(({ name }) => name.startsWith('changeset.'));
    expect(told).toEqual([
      {
        name: 'changeset.commit',
        payload: {
          type: 'swarm.event',
          kind: 'changeset.commit',
          recordedAt: expect.any(String),
          instanceId: 'tested/default',
          instanceKey: 'default',
          swarmName: 'default',
          agentName: 'tested',
          turnId: 'turn-event-1',
          data: {
            changesetId: 'changeset-1',
            status: 'ok',
            baseRef: digestJson({ a: 'old' }),
            newRef: digestJson({ a: 'new', b: 'more' }),
          },
          traceId: 'trace-1',
          spanId: called?.payload.spanId ?? '',
          parentSpanId: expect.any(String),
        },
      },
    ]);
  });

  test('asks nobody if the policy wants nobody', async () => {
    const changesets = await edited({ approve: false });
    const agent = await start({ changesets });
    expect((await agent.say('go')).text).toBe('ok');
    expect(changesets.requests.at(-1)).not.toHaveProperty('approvalId');
  });

  test.each([
    [{ decision: 'denied', by: 'ann', note: 'Too much.' }, 'ann denied the change. They say: Too much.'],
    [{ decision: 'denied' }, 'A person denied the change.'],
    [{ decision: 'expired' }, 'Nobody approved the change in time.'],
  ] as const)('L-05 %j: the change is rejected, and nothing is committed', async (outcome, message) => {
    const changesets = await edited();
    const { calls, ...seams } = watched(
      changesets,
      fakeApprover(() => outcome),
    );
    const agent = await start(seams);
    expect((await agent.say('go')).text).toBe('rejected');
    expect(calls).toEqual(['review', 'review ended', 'question', 'taken']);
    const told = agent.told.find(({ name }) => name === 'changeset.rejected');
    expect(told?.payload).toMatchObject({ data: { status: 'rejected', reason: 'policy_violation', message } });
    expect([...changesets.files]).toEqual([['a', 'old']]);
  });

  test('L-05 a change that is rejected at once is never shown to a person', async () => {
    const rejected: ChangesetCommitResult = {
      status: 'rejected',
      changesetId: 'changeset-1',
      reason: 'invalid_files',
      message: 'The bundle would have an error.',
    };
    const changesets = await edited({ reject: () => rejected });
    const approver = fakeApprover(() => approved);
    const agent = await start({ changesets, approver });
    expect((await agent.say('go')).text).toBe('rejected');
    expect(approver.questions).toEqual([]);
    expect(agent.told.find(({ name }) => name === 'changeset.rejected')?.payload).toMatchObject({
      data: { reason: 'invalid_files', message: 'The bundle would have an error.' },
    });
  });

  test.each(['review', 'commit'] as const)(
    'L-05 an error of the %s is an outcome, and the step goes on',
    async (kind) => {
      const inner = await edited();
      const changesets: Changesets = {
        ...inner,
        async ask(request, signal) {
          if (request.kind === kind) throw new GoondanError('E_CHANGESET_BUSY', 'It is busy.');
          return inner.ask(request, signal);
        },
      };
      const agent = await start({ changesets, approver: fakeApprover(() => approved) });
      const { text, result } = await agent.say('go');
      expect([text, result.finishReason]).toEqual(['errorE_CHANGESET_BUSY', 'text_response']);
      expect(agent.told.find(({ name }) => name === 'changeset.error')?.payload).toMatchObject({
        data: { status: 'error', reason: 'E_CHANGESET_BUSY', message: 'It is busy.' },
      });
    },
  );

  test.each([
    ['a defect of the runtime', new TypeError('defect'), 'E_TOOL_FAILED'],
    ['the exit of the orchestrator', new GoondanError('E_IPC_CLOSED', 'gone'), 'E_IPC_CLOSED'],
  ])('%s is not an outcome', async (_, error, code) => {
    const changesets: Changesets = { swarmName: '', ask: () => Promise.reject(error) };
    const agent = await start({ changesets });
    expect((await agent.say('go')).text).toBe(code);
    expect(agent.told.filter(({ name }) => name.startsWith('changeset.'))).toEqual([]);
  });

  test('L-05 is on disk with the call before a person is asked', async () => {
    const inner = memoryStore();
    const written: unknown[] = [];
    const append: ConversationStore['append'] = async (...args) => {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      await inner.append(...args);
      written.push(args);
    };
    let atQuestion = '';
    const approver = fakeApprover(() => {
      atQuestion = JSON.stringify(written);
      return approved;
    });
    const agent = await start({ store: { ...inner, append }, changesets: await edited(), approver });
    expect((await agent.say('go')).text).toBe('ok');
    expect(atQuestion).toContain('"type":"intent","key":"0/call/call_1/change/approval/0"');
  });

  test('is an error if no person can be asked', async () => {
    const agent = await start({ changesets: await edited() });
    expect((await agent.say('go')).text).toBe('errorE_APPROVAL_NOBODY');
  });

  test('the question about the call and the question about the change are two questions', async () => {
    const approver = fakeApprover(() => approved);
    const guard = beforeNext('guard', 'toolCall', (ctx) => ctx.approval.ask({ reason: 'Always.' }));
    const agent = await start({ changesets: await edited(), approver, extensions: [guard] });
    expect((await agent.say('go')).text).toBe('ok');
    expect(approver.questions.map(({ key, kind }) => [key, kind])).toEqual([
      ['0/call/call_1/approval/0', 'call'],
      ['0/call/call_1/change/approval/0', 'change'],
    ]);
  });
});

describe('a turn that waits for the approval of a change', () => {
  test.each([
    ['can be left if the handler may run again', true],
    ['keeps its process if the handler may not run again', false],
  ])('%s', async (_, idempotent) => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<ApprovalOutcome>();
    const approver = fakeApprover(() => (asked.resolve(), answer.promise));
    const tools = [using((bundle) => bundle.commit('changeset-1'), idempotent)];
    const agent = await start({ changesets: await edited(), approver, tools });
    const turn = agent.say('go');
    await asked.promise;
    const { activity } = agent.agent.parts;
    expect(activity.isResting).toBe(idempotent);
    answer.resolve(approved);
    expect((await turn).text).toBe('ok');
    expect(activity.isResting).toBe(false);
  });

  test('has its deadlines paused, as during a long commit the deadline of the tool', async () => {
    const clock = manualClock();
    const inner = await edited();
    const [answer, committed] = [Promise.withResolvers<ApprovalOutcome>(), Promise.withResolvers<void>()];
    const changesets: Changesets = {
      ...inner,
      async ask(request, signal) {
        if (request.kind === 'commit') await committed.promise;
        return inner.ask(request, signal);
      },
    };
    const approver = fakeApprover(() => answer.promise);
    const policy = { toolTimeoutMs: 1_000, turnTimeoutMs: 60_000 };
    const agent = await start({ changesets, approver, clock, policy });
    const turn = agent.say('go');
    await clock.advance(3_600_000);
    answer.resolve(approved);
    await clock.advance(30_000);
    committed.resolve();
    await clock.advance(10);
    expect((await turn).text).toBe('ok');
    expect(agent.told.find(({ name }) => name === 'changeset.commit')?.payload).toMatchObject({
      recordedAt: '2026-01-01T01:00:30.000Z',
    });
  });

  test('has the deadline of the tool again after the commit', async () => {
    const clock = manualClock();
    const hanging = using(async (bundle) => {
      await bundle.commit('changeset-1');
      await new Promise(() => undefined);
    });
    const changesets = await edited({ approve: false });
    const agent = await start({ changesets, clock, tools: [hanging], policy: { toolTimeoutMs: 1_000 } });
    const turn = agent.say('go');
    await clock.advance(1_000);
    expect((await turn).text).toBe('E_TOOL_TIMEOUT');
  });

  test('keeps its approval when it is aborted during the commit, because the next process may go on', async () => {
    const cancel = new AbortController();
    const inner = await edited();
    const { calls, ...seams } = watched(
      {
        ...inner,
        ask: (request, signal) => {
          if (request.kind !== 'commit') return inner.ask(request, signal);
          cancel.abort();
          return Promise.reject(signal.reason);
        },
      },
      fakeApprover(() => approved),
    );
    await (await start(seams)).say('go', { signal: cancel.signal });
    expect(calls).toEqual(['review', 'review ended', 'question', 'commit']);
  });

  test('withdraws its question when the turn is cancelled, and commits nothing', async () => {
    const cancel = new AbortController();
    const changesets = await edited();
    const approver = silentApprover();
    const thrown = Promise.withResolvers<unknown>();
    const tools = [using((bundle) => bundle.commit('changeset-1').catch((error: unknown) => thrown.resolve(error)))];
    const agent = await start({ changesets, approver, tools });
    const turn = agent.say('go', { signal: cancel.signal });
    const signal = await approver.asked;
    cancel.abort();
    expect((await turn).result.error?.code).toBe('E_CANCELLED');
    expect(await thrown.promise).toMatchObject({ code: 'E_CANCELLED' });
    expect(signal.aborted).toBe(true);
    expect(changesets.requests.map(({ kind }) => kind)).not.toContain('commit');
    expect(agent.told.filter(({ name }) => name.startsWith('changeset.'))).toEqual([]);
  });

  test('withdraws its question when the handler returns without the answer', async () => {
    const approver = silentApprover();
    const hasty = using(async (bundle) => {
      bundle.commit('changeset-1').catch(() => undefined);
      await approver.asked;
    });
    const agent = await start({ changesets: await edited(), approver, tools: [hasty] });
    await agent.say('go');
    expect((await approver.asked).aborted).toBe(true);
  });
});

describe('a commit that a crash interrupts', () => {
  /** The calls to the outside, each before and after it took effect. */
  const points = ['review', 'review ended', 'question', 'answered', 'commit', 'commit ended', 'taken'] as const;

  /** Runs a turn whose process dies at this point. */
  async function runUntil(point: string, store: ConversationStore, changesets: Changesets, approver: FakeApprover) {
    const reached = Promise.withResolvers<void>();
    const die = (): Promise<never> => {
      reached.resolve();
      return new Promise(() => undefined);
    };
    let isDead = false;
    const live = <Value>(action: () => Promise<Value>) => (isDead ? new Promise<Value>(() => undefined) : action());
    const agent = await start({
      store: {
        ...store,
        append: (...args) => live(() => store.append(...args)),
        commit: (...args) => live(() => store.commit(...args)),
      },
      changesets: {
        ...changesets,
        async ask(request, signal) {
          if (request.kind === point) return die();
          const answer = await changesets.ask(request, signal);
          return `${request.kind} ended` === point ? die() : answer;
        },
      },
      approver: {
        ...approver,
        async ask(question, signal) {
          if (point === 'question') {
            // The question is with the person; the process does not live until the answer.
            await approver.ask(question, signal);
            return die();
          }
          const answer = await approver.ask(question, signal);
          if (point === 'answered') {
            isDead = true;
            reached.resolve();
          }
          return answer;
        },
        taken(id) {
          approver.taken(id);
          if (point !== 'taken') return;
          isDead = true;
          reached.resolve();
        },
      },
    });
    void agent.say('go', { event: { id: 'same' } }).catch(() => undefined);
    await reached.promise;
  }

  test.each(points)('L-05 at %j: the next process finishes it, and the person decides once', async (point) => {
    const store = memoryStore();
    const changesets = await edited();
    let decisions = 0;
    const approver = fakeApprover(() => (decisions++, approved));
    await runUntil(point, store, changesets, approver);
    const agent = await start({ store, changesets, approver });
    expect((await agent.say('go', { event: { id: 'same' } })).text).toBe('ok');
    expect(decisions).toBe(1);
    expect(changesets.files.get('b')).toBe('more');
    // The commit carries the answer of the person, also if an earlier process got it.
    const commits = changesets.requests.filter((request) => request.kind === 'commit');
    expect(commits.length).toBeGreaterThan(0);
    expect(new Set(commits.map(({ approvalId }) => approvalId)).size).toBe(1);
    expect(commits[0]).toHaveProperty('approvalId');
  });

  test('L-05 keeps a denial: the next process does not ask again', async () => {
    const store = memoryStore();
    const changesets = await edited();
    const approver = fakeApprover(() => ({ decision: 'denied', by: 'ann' }));
    await runUntil('taken', store, changesets, approver);
    const agent = await start({ store, changesets, approver });
    expect((await agent.say('go', { event: { id: 'same' } })).text).toBe('rejected');
    expect(approver.questions).toHaveLength(1);
  });

  test('L-05 an approval does not count for edits that were made after it', async () => {
    const store = memoryStore();
    const changesets = await edited();
    const approver = fakeApprover(() => approved);
    await runUntil('commit', store, changesets, approver);
    const { signal } = new AbortController();
    await changesets.ask({ kind: 'write', changesetId: 'changeset-1', path: 'c', content: 'sneaky' }, signal);
    const agent = await start({ store, changesets, approver });
    expect((await agent.say('go', { event: { id: 'same' } })).text).toBe('ok');
    expect(approver.questions.map(({ args: { files } }) => (files as JsonValue[]).length)).toEqual([2, 3]);
    const ids = changesets.requests.flatMap((request) => (request.kind === 'commit' ? [request.approvalId] : []));
    expect(ids[0]).toContain('sneaky');
  });

  test('is not repeated if the tool is not idempotent', async () => {
    const store = memoryStore();
    const changesets = await edited();
    const approver = fakeApprover(() => approved);
    await runUntil('commit', store, changesets, approver);
    const tools = [using((bundle) => bundle.commit('changeset-1'), false)];
    const agent = await start({ store, changesets, approver, tools });
    expect((await agent.say('go', { event: { id: 'same' } })).text).toBe('E_INTERRUPTED');
    expect([...changesets.files]).toEqual([['a', 'old']]);
  });
});

describe('a replay of a turn with a commit', () => {
  test('gets the recorded result of the tool, and reaches neither the bundle nor a person', async () => {
    const changesets = await edited();
    const approver = fakeApprover(() => approved);
    const plan = {
      agentName: 'tested',
      models: { 'Model/m': openScriptedModel({ script }, systemClock) },
      tools: [committing],
    };
    const { start: source } = await recordInMemory(plan, ['go'], { changesets, approver });
    const requests = changesets.requests.length;
    const outcome = await replayTurn(plan, source);
    expect(outcome.first).toBeUndefined();
    expect(outcome.served).toMatchObject({ tool: 1, model: 2 });
    expect([changesets.requests.length, approver.questions.length]).toEqual([requests, 1]);
  });
});

describe('ctx.bundle', () => {
  test('reads and writes files of a changeset', async () => {
    const changesets = fakeChangesets({ files: { a: 'old' }, approve: false });
    const seen: unknown[] = [];
    const tools = [
      using(async (bundle) => {
        const { changesetId, files } = await bundle.open();
        seen.push(files, await bundle.read(changesetId, 'a'));
        await bundle.write(changesetId, 'a', null);
        seen.push(await bundle.read(changesetId, 'a'));
        await bundle.write(changesetId, 'b', '');
        return bundle.commit(changesetId);
      }),
    ];
    const agent = await start({ changesets, tools });
    expect((await agent.say('go')).text).toBe('ok');
    expect(seen).toEqual([['a'], 'old', null]);
    expect([...changesets.files]).toEqual([['b', '']]);
  });

  test.each([
    ['E_CHANGESET_UNKNOWN', (bundle: BundleApi) => bundle.read('nowhere', 'a')],
    ['E_CHANGESET_UNKNOWN', (bundle: BundleApi) => bundle.read(7 as unknown as string, 'a')],
    ['E_CHANGESET_UNKNOWN', (bundle: BundleApi) => bundle.write('', 'a', 'x')],
    ['E_CHANGESET_UNKNOWN', (bundle: BundleApi) => bundle.commit('x'.repeat(5_000))],
    ['E_CHANGESET_FILE', (bundle: BundleApi) => bundle.read('changeset-1', 'nowhere')],
    ['E_CHANGESET_FILE', (bundle: BundleApi) => bundle.read('changeset-1', '')],
    ['E_CHANGESET_FILE', (bundle: BundleApi) => bundle.write('changeset-1', 'a', 7 as unknown as string)],
    ['E_CHANGESET_FILE', (bundle: BundleApi) => bundle.write('changeset-1', 'a', undefined as unknown as string)],
  ])('a mistake is the error result %s: %p', async (code, act) => {
    const changesets = await edited();
    const agent = await start({ changesets, tools: [using(act)] });
    expect((await agent.say('go')).text).toBe(code);
  });

  test('sends no request with an id, a path or a content that a frame cannot have', async () => {
    const changesets = fakeChangesets({ files: {} });
    const long = 'x'.repeat(1_001);
    const tools = [
      using(async (bundle) => {
        for (const wrong of ['', long, 7 as unknown as string]) {
          await Promise.allSettled([
            bundle.read(wrong, 'a'),
            bundle.read('c', wrong),
            bundle.write(wrong, 'a', ''),
            bundle.write('c', wrong, ''),
            bundle.commit(wrong),
          ]);
        }
        await Promise.allSettled([bundle.write('c', 'a', 7 as unknown as string)]);
      }),
    ];
    await (await start({ changesets, tools })).say('go');
    expect(changesets.requests).toEqual([]);
  });

  test('sends no request when the call is over', async () => {
    const signals: AbortSignal[] = [];
    const inner = fakeChangesets({ files: {} });
    const changesets: Changesets = {
      ...inner,
      ask: (request, signal) => (signals.push(signal), inner.ask(request, signal)),
    };
    const kept: BundleApi[] = [];
    const agent = await start({ changesets, tools: [using(async (bundle) => void kept.push(bundle))] });
    await agent.say('go');
    await kept[0]?.open().catch(() => undefined);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test('of an agent that runs alone throws E_CHANGESET_SOURCE', async () => {
    const agent = await start({ tools: [using((bundle) => bundle.open())] });
    expect((await agent.say('go')).text).toBe('E_CHANGESET_SOURCE');
  });
});
