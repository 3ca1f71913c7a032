// Tests a turn whose plan changes between its steps: the turn is killed, resumed, traced and replayed.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createSystemMessage, type ExtensionApi } from '@goondan/types';
import { shortDigest } from '../../json/short-digest.ts';
import { extension } from '../../testing/index.ts';
import { recordRuns } from '../../testing/record-runs.ts';
import { assembleTurn } from '../../trace/assemble-turn.ts';
import { decodeTraceLines } from '../../trace/decode-trace-lines.ts';
import { describePlans, plansOf } from '../../trace/plans-of.ts';
import { renderTrace } from '../../trace/render-trace.ts';
import { watchDraws } from '../draws/watch-draws.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import type { RunningAgent } from '../start/start-agent.ts';
import { replayTurn } from './replay-turn.ts';

let unwatch: () => void;
beforeAll(() => {
  unwatch = watchDraws();
});
afterAll(() => unwatch());

const script = [
  { when: 'go', call: { tool: 'work__first' } },
  { afterTool: 'work__first', call: { tool: 'work__second' } },
  { afterTool: 'work__second', say: 'done' },
];

/** The layers of a version put its name into messages. */
function says(version: string) {
  return ({ pipeline }: ExtensionApi) => {
    const message = (kind: string) => ({ type: 'append', message: createSystemMessage(`${kind} ${version}`) }) as const;
    pipeline.register('turn', (ctx) => {
      ctx.emitMessageEvent(message('turn'));
      return ctx.next();
    });
    pipeline.register('step', (ctx) => {
      ctx.emitMessageEvent(message('step'));
      return ctx.next();
    });
  };
}

interface Work {
  readonly first: () => string | Promise<string>;
  readonly second: () => string | Promise<string>;
}
const done: Work = { first: () => 'ok', second: () => 'ok' };

function planOf(version: string, { first, second }: Work = done): AgentPlan {
  const described = { description: 'Works.', parameters: { type: 'object' }, idempotent: true };
  const exports = ['first', 'second'].map((name) => ({ name, ...described }));
  return {
    agentName: 'tested',
    models: { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } },
    tools: [{ name: 'work', exports, handlers: { first: () => first(), second: () => second() } }],
    extensions: [extension('tag', says(version), { config: { version } })],
  };
}

/** Records a turn that changes from the plan `old` to `new` after its first step and is killed in the second. */
async function recordChange() {
  const killed = Promise.withResolvers<void>();
  let agent: RunningAgent | undefined;
  const work: Work = {
    async first() {
      void (await agent?.prepare(planOf('new', work)))?.swap();
      return 'ok';
    },
    second() {
      killed.resolve();
      return new Promise(() => undefined);
    },
  };
  return recordRuns('go', [
    {
      plan: planOf('old', work),
      onStart: (started) => void (agent = started),
      interrupted: { when: killed.promise, how: 'crashed' },
    },
    { plan: planOf('new') },
  ]);
}

describe('a turn whose plan changed between two steps, that was killed and resumed', () => {
  test('L-01 its trace says which plan each step had', async () => {
    const { text, result } = await recordChange();
    expect(result.finishReason).toBe('text_response');
    const turn = assembleTurn(decodeTraceLines(text)) ?? expect.unreachable();
    const { turnPlans = [], chain } = turn;
    expect(turnPlans).toHaveLength(2);
    const [before = '', after = ''] = turnPlans.map(shortDigest);
    expect(chain.inside.map(({ label, plan = '' }) => `step ${label} ${shortDigest(plan)}`)).toEqual([
      `step 0 ${before}`,
      `step 1 ${after}`,
      `step 1 ${after}`,
      `step 2 ${after}`,
    ]);
    const shown = renderTrace(turn);
    expect(shown).toContain(`… its turn layers ran with the plans ${before}, then ${after}\n`);
    expect(shown.match(/step \d .*plan \w+/g)?.map((line) => line.replace(/ [\d.]+ m?s| unfinished/, ''))).toEqual([
      `step 0, plan ${before}`,
      `step 1, plan ${after}`,
      `step 1, plan ${after}`,
      `step 2, plan ${after}`,
    ]);
  });

  test('L-01 its replay loads the plan of each step', async () => {
    const { starts, runs } = await recordChange();
    const [first = expect.unreachable(), second = expect.unreachable()] = starts;
    expect(
      [...runs.earlier, runs.last].map(({ recording }) => recording && describePlans(plansOf(recording.chain))),
    ).toEqual([
      expect.stringMatching(/^turn layers and step 0 with plan \w{8}, step 1 with plan \w{8}$/),
      expect.stringMatching(/^turn layers and steps 1 and 2 with plan \w{8}$/),
    ]);
    const changes = [{ fromStep: 1, plan: planOf('new') }];
    const replayed = await replayTurn(planOf('old'), first, { changes });
    expect(replayed.first).toBeUndefined();
    expect(replayed).toMatchObject({ layers: 3, steps: 2, halted: { how: 'crashed' } });
    const resumed = await replayTurn(planOf('new'), second);
    expect(resumed.first).toBeUndefined();
    expect(resumed).toMatchObject({ layers: 3, steps: 2 });
  });

  test('L-01 its replay diverges if the plan of a step is not loaded, or is loaded for another step', async () => {
    const { starts } = await recordChange();
    const [start = expect.unreachable()] = starts;
    const firstOf = async (version: string, changes: readonly { fromStep: number; plan: AgentPlan }[]) =>
      (await replayTurn(planOf(version), start, { changes })).first?.place;
    expect(await firstOf('old', [])).toEqual(['step 1']);
    expect(await firstOf('old', [{ fromStep: 0, plan: planOf('new') }])).toEqual(['step 0']);
    expect(await firstOf('new', [])).toEqual([]);
  });
});

test('a plan that cannot be loaded ends the replay with its error', async () => {
  const { starts } = await recordChange();
  const [start = expect.unreachable()] = starts;
  const broken = extension('tag', () => {
    throw new Error('no');
  });
  const changes = [{ fromStep: 1, plan: { ...planOf('new'), extensions: [broken] } }];
  expect(await replayTurn(planOf('old'), start, { changes }).catch((error: unknown) => error)).toMatchObject({
    code: 'E_EXT_INIT',
  });
});

describe('a replay of a turn with three plans', () => {
  /** Records a turn that changes its plan after each of its first two steps. */
  async function recordTwoChanges() {
    let agent: RunningAgent | undefined;
    const change = (version: string) => async () => {
      void (await agent?.prepare(planOf(version, work)))?.swap();
      return 'ok';
    };
    const work: Work = { first: change('new'), second: change('newest') };
    const onStart = (started: RunningAgent) => void (agent = started);
    const { starts } = await recordRuns('go', [{ plan: planOf('old', work), onStart }]);
    return starts[0] ?? expect.unreachable();
  }
  const loading = (register: () => Promise<void>): AgentPlan => {
    const tag = extension(
      'tag',
      async (api) => {
        await register();
        says('newest')(api);
      },
      { config: { version: 'newest' } },
    );
    return { ...planOf('newest'), extensions: [tag] };
  };

  test('L-01 waits for a plan that takes long to load, and opens no model of any plan', async () => {
    const slow = loading(async () => {
      for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve));
    });
    const models = { 'Model/m': { provider: 'nowhere', model: 'm' } };
    const changes = [
      { fromStep: 1, plan: { ...planOf('new'), models } },
      { fromStep: 2, plan: { ...slow, models } },
    ];
    const replayed = await replayTurn({ ...planOf('old'), models }, await recordTwoChanges(), { changes });
    expect(replayed.first).toBeUndefined();
    expect(replayed).toMatchObject({ steps: 3 });
  });

  test('ends with the error of a plan that cannot be loaded in the middle of the turn', async () => {
    const broken = loading(() => Promise.reject(new Error('no')));
    const changes = [
      { fromStep: 1, plan: planOf('new') },
      { fromStep: 2, plan: broken },
    ];
    const replay = replayTurn(planOf('old'), await recordTwoChanges(), { changes });
    expect(await replay.catch((error: unknown) => error)).toMatchObject({ code: 'E_EXT_INIT' });
  });
});
