// Random edits of people, with layers inside and outside, parallel calls, and crashes at every append.
import { expect, test } from 'bun:test';
import type { JsonObject, ToolCallMiddleware } from '@goondan/types';
import { samples } from '../../../../../test/samples.ts';
import type { QuestionOutcome } from '../../questions/question-record.ts';
import { extension, fakeApprover, scriptedAgent } from '../../testing/index.ts';
import { mortalStore } from '../../testing/mortal-store.ts';
import { seededRandom } from '../../workspace/simulation/seeded-random.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import type { Question } from '../seams/approver.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

type Habit = 'ask' | 'both' | 'bind' | 'change' | 'pass';

const layers: Readonly<Record<Habit, (word: string) => ToolCallMiddleware>> = {
  ask: () => async (ctx) => {
    await ctx.approval.ask({ reason: 'May it?' });
    return ctx.next();
  },
  both: () => async (ctx) => {
    await Promise.all([ctx.approval.ask({ reason: 'One.' }), ctx.approval.ask({ reason: 'Two.' })]);
    return ctx.next();
  },
  bind: () => async (ctx) => {
    ctx.approval.bind();
    return ctx.next();
  },
  change: (word) => async (ctx) => {
    ctx.args = { ...ctx.args, text: word };
    return ctx.next();
  },
  pass: () => (ctx) => ctx.next(),
};

interface Run {
  readonly toolCallId: string;
  readonly input: JsonObject;
}

function writer(runs: Run[]): ToolDeclaration {
  const parameters = {
    type: 'object',
    required: ['path'],
    properties: { path: { type: 'string' }, n: { type: 'number' } },
  };
  return {
    name: 'file',
    exports: [{ name: 'write', description: '', parameters, effects: 'external', parallel: true }],
    handlers: { write: ({ toolCallId }, input) => void runs.push({ toolCallId, input }) },
  };
}

/** One scenario: its layers, its calls and its person follow from the seed. */
function scenarioOf(seed: number) {
  const random = seededRandom(seed);
  const pick = <Value>(...values: readonly Value[]) => random.pick(values);
  const habits = Array.from({ length: 1 + random.below(4) }, () =>
    pick<Habit>('ask', 'ask', 'ask', 'both', 'bind', 'change', 'pass'),
  );
  if (!habits.includes('ask')) habits.push('ask');
  const calls = Array.from({ length: 1 + random.below(3) }, (_, n) => ({
    tool: 'file__write',
    args: { path: `/${n}`, n },
  }));
  const answers = new Map<string, QuestionOutcome>();
  /** The arguments of the last answer about each call, in the order in which the person gave them. */
  const last = new Map<string, JsonObject | 'denied'>();
  /** The calls with a denial, or with an edit that does not fit. */
  const refused = new Set<string>();
  const answer = (question: Question): QuestionOutcome => {
    const { key, toolCallId, args } = question;
    const known = answers.get(key) ?? decide(args);
    answers.set(key, known);
    last.set(toolCallId, known.decision === 'approved' ? (known.args ?? args) : 'denied');
    if (known.decision === 'denied' || typeof (known.args ?? args)['n'] !== 'number') refused.add(toolCallId);
    return known;
  };
  const decide = (args: JsonObject): QuestionOutcome => {
    const kind = pick('yes', 'yes', 'no', 'edit', 'edit', 'edit', 'wrong');
    if (kind === 'yes') return { decision: 'approved', by: 'ann' };
    if (kind === 'no') return { decision: 'denied', by: 'ann' };
    if (kind === 'wrong') return { decision: 'approved', by: 'ann', args: { ...args, n: 'no number' } };
    return { decision: 'approved', by: 'ann', args: { ...args, path: `/edited-${random.below(1_000)}` } };
  };
  return { habits, calls, answer, last, refused, crashAt: random.chance(0.6) ? 1 + random.below(12) : Infinity };
}

async function runScenario(seed: number) {
  const { habits, calls, answer, last, refused, crashAt } = scenarioOf(seed);
  const runs: Run[] = [];
  const open = (store: ConversationStore, approver: ReturnType<typeof fakeApprover>) =>
    scriptedAgent({
      script: [{ when: 'go', calls }, { say: 'done' }],
      tools: [writer(runs)],
      extensions: habits.map((habit, n) =>
        extension(`layer-${n}`, ({ pipeline }) => pipeline.register('toolCall', layers[habit](`word ${n}`))),
      ),
      approver,
      store,
    });
  const store = memoryStore();
  const approver = fakeApprover(answer);
  const mortal = mortalStore(store, crashAt);
  const first = await open(mortal, approver);
  await first.say('go', { event: { id: 'same' } }).catch(() => undefined);
  if (mortal.isDead()) {
    const next = fakeApprover(answer);
    next.remember(approver);
    await (await open(store, next)).say('go', { event: { id: 'same' } });
  }
  return { habits, calls, runs, last, refused, hasCrashed: mortal.isDead() };
}

test('edited arguments run, and nothing else does: the arguments that a person saw last, or none', async () => {
  const seen = { ran: 0, edited: 0, refused: 0, crashed: 0 };
  for (let seed = 1; seed <= samples(200); seed += 1) {
    const { habits, calls, runs, last, refused, hasCrashed } = await runScenario(seed);
    const context = `seed ${seed}: ${habits.join(', ')}`;
    if (hasCrashed) seen.crashed += 1;
    expect(new Set(runs.map(({ toolCallId }) => toolCallId)).size, context).toBe(runs.length);
    for (const { toolCallId, input } of runs) {
      seen.ran += 1;
      if (JSON.stringify(input).includes('/edited')) seen.edited += 1;
      expect({ context, input }).toEqual({ context, input: last.get(toolCallId) as JsonObject });
    }
    seen.refused += calls.length - runs.length;
    // With nothing but questions one after the other, the last edit always runs.
    const isSimple = habits.every((habit) => habit === 'ask' || habit === 'pass');
    if (!isSimple || hasCrashed) continue;
    const allowed = [...last.keys()].filter((toolCallId) => !refused.has(toolCallId));
    expect(runs.map(({ toolCallId }) => toolCallId).toSorted(), context).toEqual(allowed.toSorted());
  }
  // The samples are worth something.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(samples(200) / 20);
});
