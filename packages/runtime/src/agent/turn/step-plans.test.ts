// Tests that the records, the log and the trace of a turn name the plan of each step.
import { describe, expect, test } from 'bun:test';
import { recordRuns } from '../../testing/record-runs.ts';
import { scriptedAgent, type ScriptedAgent } from '../../testing/index.ts';
import { oneLayer } from '../../testing/one-layer.ts';
import { assembleTurn } from '../../trace/assemble-turn.ts';
import { decodeTraceLines } from '../../trace/decode-trace-lines.ts';
import { renderTrace } from '../../trace/render-trace.ts';
import { shortDigest } from '../../json/short-digest.ts';
import type { ConversationStore, TurnRecord } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { appendRest } from '../../testing/append-rest.ts';

const event = { id: 'e', traceId: 't' };
const calls = { when: 'go', call: { tool: 'work__do' } };
const script = [calls, { afterTool: 'work__do', say: 'done' }];

function tool(run: () => string | Promise<string>): ToolDeclaration {
  return { name: 'work', exports: [{ name: 'do', description: 'Works.' }], handlers: { do: run } };
}

/** A store that keeps a copy of every record, and fails after some of them, as a crashed process would. */
function noting(inner: ConversationStore, dies: (record: TurnRecord) => boolean = () => false) {
  const records: TurnRecord[] = [];
  const store: ConversationStore = {
    ...inner,
    async append(instance, epoch, at, appended) {
      const last = appended.findIndex(dies);
      const kept = last === -1 ? appended : appended.slice(0, last + 1);
      records.push(...kept);
      await inner.append(instance, epoch, at, kept);
      if (last !== -1) throw new Error('the process is gone');
    },
  };
  return { store: appendRest(store), records };
}

function plansIn(records: readonly TurnRecord[]) {
  return records.flatMap((record) =>
    record.type === 'step'
      ? [{ step: record.stepIndex, plan: record.plan, ...(record.turnPlan && { turnPlan: record.turnPlan }) }]
      : [],
  );
}

const digestOf = ({ agent }: ScriptedAgent) => agent.parts.plan.digest() ?? '';

/** Changes the prompt of the agent while a step runs. */
async function changePlan({ agent }: ScriptedAgent, tools: readonly ToolDeclaration[]): Promise<string> {
  const { openModel, policy, modelRef } = agent.parts.plan;
  const models = openModel.entries;
  const change = await agent.prepare({ agentName: 'tested', modelRef, models, policy, tools, systemPrompt: 'New.' });
  void change.swap();
  return 'ok';
}

describe('the plan of a step', () => {
  test('L-01 is in the record of each step, and in the record with which the steps begin', async () => {
    const { store, records } = noting(memoryStore());
    const agent = await scriptedAgent({ store, script, tools: [tool(() => 'ok')] });
    await agent.say('go');
    const plan = digestOf(agent);
    expect(plan).toMatch(/^[0-9a-f]{64}$/);
    expect(plansIn(records)).toEqual([
      { step: 0, plan },
      { step: 1, plan },
    ]);
    expect(records.find(({ type }) => type === 'entered')).toMatchObject({ plan });
  });

  test('L-01 a change during a step counts from the next step, and the turn keeps the plan of its layers', async () => {
    const { store, records } = noting(memoryStore());
    const tools: readonly ToolDeclaration[] = [tool(() => changePlan(agent, tools))];
    const agent: ScriptedAgent = await scriptedAgent({ store, script, tools });
    const first = digestOf(agent);
    const { trace } = await agent.say('go');
    const second = digestOf(agent);
    expect(second).not.toBe(first);
    expect(plansIn(records)).toEqual([
      { step: 0, plan: first },
      { step: 1, plan: second, turnPlan: first },
    ]);
    expect(trace).toMatchObject({ plan: first, inside: [{ plan: first }, { plan: second }] });
    const shown = renderTrace(trace ?? expect.unreachable()).split('\n');
    const titles = shown.filter((line) => line.includes('plan')).map((line) => line.replace(/[\d.]+ m?s/, '#'));
    expect(titles).toEqual([
      `turn tested #, plan ${shortDigest(first)}`,
      `│ step 0 #, plan ${shortDigest(first)}`,
      `│ step 1 #, plan ${shortDigest(second)}`,
    ]);
  });

  test('is not shown for a turn with one plan', async () => {
    const agent = await scriptedAgent({ script, tools: [tool(() => 'ok')] });
    const { trace } = await agent.say('go');
    expect(trace?.inside.map(({ plan }) => plan)).toEqual([digestOf(agent), digestOf(agent)]);
    expect(renderTrace(trace ?? expect.unreachable())).not.toContain('plan');
  });
});

describe('a resumed turn', () => {
  async function resume(systemPrompt: string, dies: (record: TurnRecord) => boolean) {
    const base = memoryStore();
    const { store, records } = noting(base, dies);
    const first = await scriptedAgent({ store, script, tools: [tool(() => 'ok')], systemPrompt: 'Be kind.' });
    await first.say('go', { event }).catch(() => undefined);
    const after = noting(base);
    const second = await scriptedAgent({ store: after.store, script, tools: [tool(() => 'ok')], systemPrompt });
    expect((await second.say('go', { event })).text).toBe('done');
    const warned = second.logs.filter(({ event: name }) => name === 'turn.plan_changed');
    return { plans: [digestOf(first), digestOf(second)], warned, steps: plansIn([...records, ...after.records]) };
  }

  test.each([
    ['after its first step', 'step', [0, 1]],
    ['before its first step', 'entered', [1, 1]],
  ])('L-01 says that its layers run with another plan: interrupted %s', async (_when, last, used) => {
    const { plans, warned, steps } = await resume('Be brief.', ({ type }) => type === last);
    const [before = '', after = ''] = plans;
    expect(before).not.toBe(after);
    expect(warned).toEqual([
      expect.objectContaining({
        level: 'warn',
        message: `The turn began with plan ${shortDigest(before)} and goes on with plan ${shortDigest(after)}: its turn layers run again.`,
        data: { before, after },
      }),
    ]);
    expect(steps).toEqual(used.map((index, step) => ({ step, plan: plans[index] })));
  });

  test('L-01 says nothing if its plan is the same', async () => {
    const { plans, warned } = await resume('Be kind.', ({ type }) => type === 'step');
    expect(plans[0]).toBe(plans[1] ?? '');
    expect(warned).toEqual([]);
  });

  test('L-01 has the plans of its turn layers in its trace', async () => {
    const started = Promise.withResolvers<void>();
    let runs = 0;
    const hanging = tool(() => {
      started.resolve();
      return runs++ === 0 ? new Promise(() => undefined) : 'ok';
    });
    const layer = oneLayer('layer', 'turn', (ctx) => ctx.next());
    const model = { provider: 'scripted', model: 'm', options: { script } };
    const plan = (systemPrompt: string) => ({
      agentName: 'tested',
      models: { 'Model/m': model },
      systemPrompt,
      tools: [{ ...hanging, exports: [{ name: 'do', description: 'Works.', idempotent: true }] }],
      extensions: [layer],
    });
    const { text } = await recordRuns('go', [
      { plan: plan('Be kind.'), interrupted: { when: started.promise, how: 'crashed' } },
      { plan: plan('Be brief.') },
    ]);
    const turn = assembleTurn(decodeTraceLines(text)) ?? expect.unreachable();
    const { turnPlans = [], chain } = turn;
    expect(turnPlans).toHaveLength(2);
    expect(chain).toMatchObject({ plan: turnPlans[1] });
    expect(chain.inside.map(({ label, plan: digest }) => `${label} ${turnPlans.indexOf(digest ?? '')}`)).toEqual([
      '0 0',
      '0 1',
      '1 1',
    ]);
    const [one = '', other = ''] = turnPlans.map(shortDigest);
    expect(renderTrace(turn)).toContain(`… its turn layers ran with the plans ${one}, then ${other}\n`);
  });
});
