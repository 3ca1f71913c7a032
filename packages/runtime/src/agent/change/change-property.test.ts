// Random changes of the extensions and tools of a running agent, compared with a fresh start of the same plan.
import { describe, expect, test } from 'bun:test';
import type { ExtensionModule, JsonObject, MiddlewareKind, StepMiddleware, ToolHandler } from '@goondan/types';
import fc from 'fast-check';
import { samples } from '../../../../../test/samples.ts';
import { scriptedAgent } from '../../testing/index.ts';
import type { Tier } from '../../config/declared-extension.ts';
import type { ExtensionDeclaration } from '../extension/load-extension.ts';
import type { AgentPlan } from '../start/agent-plan.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { until } from '../../../../../test/until.ts';

const kinds: readonly MiddlewareKind[] = ['turn', 'step', 'toolCall', 'model'];

interface Wanted {
  readonly extensions: readonly { readonly name: string; readonly version: number; readonly tier: Tier }[];
  readonly tools: readonly { readonly name: string; readonly version: number }[];
  readonly prompt: string;
}

/** The life of one registration: its memory, and how often it was registered and cleaned up. */
interface Life {
  readonly name: string;
  readonly version: number;
  /** Functions that only this registration has. */
  readonly layer: (ctx: { next(): unknown }) => unknown;
  readonly handler: ToolHandler;
  cleanups: number;
}

/** The extensions of one agent. Each registration leaves a life behind. */
function notedExtensions() {
  const lives: Life[] = [];
  const module: ExtensionModule = {
    register(api, config, { name }) {
      const { version, layers } = config as { version: number; layers: { kind: MiddlewareKind; priority: number }[] };
      const life: Life = { name, version, layer: (ctx) => ctx.next(), handler: () => version, cleanups: 0 };
      lives.push(life);
      for (const { kind, priority } of layers) {
        // The cast is safe: the layer returns the result of `next()`, whatever its kind.
        api.pipeline.register(kind as 'step', life.layer as StepMiddleware, { priority, name: `v${version}` });
      }
      api.tools.register({ name: `${name}__own`, description: `v${version}` }, life.handler);
      return () => void (life.cleanups += 1);
    },
  };
  return { lives, module };
}

function planOf({ extensions, tools, prompt }: Wanted, module: ExtensionModule): Partial<AgentPlan> {
  return {
    systemPrompt: prompt,
    extensions: extensions.map(({ name, version, tier }): ExtensionDeclaration => {
      // The layers follow from name and version, so that an equal declaration is an equal extension.
      const seed = name.charCodeAt(0) * 7 + version * 3;
      const layers = [0, 1, 2].map((index) => ({
        kind: kinds[(seed + index) % 4] ?? 'step',
        priority: (seed * index) % 3,
      }));
      const resource = {
        apiVersion: 'goondan.ai/v1',
        kind: 'Extension',
        metadata: { name },
        spec: { entry: './x.ts' },
      } as const;
      return { resource, root: '.', tier, module, config: { version, layers } satisfies JsonObject };
    }),
    tools: tools.map(({ name, version }): ToolDeclaration => {
      return { name, exports: [{ name: 'run', description: `v${version}` }], handlers: { run }, config: { version } };
    }),
  };
}

const run: ToolHandler = () => 'done';

const wanted: fc.Arbitrary<Wanted> = fc.record({
  extensions: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      version: fc.integer({ min: 1, max: 2 }),
      tier: fc.constantFrom<Tier>('swarm', 'agent'),
    }),
    { selector: ({ name }) => name, maxLength: 5 },
  ),
  tools: fc.uniqueArray(fc.record({ name: fc.constantFrom('x', 'y', 'z'), version: fc.integer({ min: 1, max: 2 }) }), {
    selector: ({ name }) => name,
    maxLength: 3,
  }),
  prompt: fc.constantFrom('Be brief.', 'Be kind.'),
});

function shownBy(agent: Awaited<ReturnType<typeof scriptedAgent>>) {
  const { parts } = agent.agent;
  return {
    extensions: agent.agent.extensions,
    layers: kinds.map((kind) => agent.agent.layers(kind).map(({ run: _, mark: __, ...layer }) => layer)),
    tools: parts.tools.items(),
    configs: parts.tools.items().map(({ name }) => parts.tools.get(name)?.config),
    prompt: parts.plan.systemPrompt,
    digest: parts.plan.digest(),
  };
}

type Step = Wanted & { readonly isDropped: boolean };

async function checkChain(first: Wanted, steps: readonly Step[]): Promise<void> {
  const { lives, module } = notedExtensions();
  const agent = await scriptedAgent(planOf(first, module));
  const { models } = { models: agent.agent.parts.plan.openModel.entries };
  const policy = agent.agent.parts.plan.policy;
  let now = first;
  /** The life of each extension in place, by name. */
  let placed = new Map(lives.map((life) => [life.name, life]));
  for (const { isDropped, ...next } of steps) {
    const before = shownBy(agent);
    const known = lives.length;
    const change = await agent.agent.prepare({
      agentName: 'tested',
      modelRef: 'Model/scripted',
      models,
      policy,
      ...planOf(next, module),
    });
    // Held parts are invisible.
    expect(shownBy(agent)).toEqual(before);
    const added = lives.slice(known);
    const same = (name: string) => {
      const one = now.extensions.find((each) => each.name === name);
      return one !== undefined && next.extensions.some((each) => Bun.deepEquals(each, one));
    };
    const isNew = next.extensions.filter(({ name }) => !same(name));
    expect(added.map(({ name, version }) => ({ name, version }))).toEqual(
      isNew.map(({ name, version }) => ({ name, version })),
    );
    if (isDropped) {
      await change.drop();
      expect(shownBy(agent)).toEqual(before);
      expect(added.map(({ cleanups }) => cleanups)).toEqual(added.map(() => 1));
      continue;
    }
    await change.swap();
    const after = new Map([...placed].filter(([name]) => same(name)));
    for (const life of added) after.set(life.name, life);
    const removed = [...placed.values()].filter((life) => after.get(life.name) !== life);
    await until(() => removed.every(({ cleanups }) => cleanups > 0));
    expect(removed.map(({ cleanups }) => cleanups)).toEqual(removed.map(() => 1));
    expect([...after.values()].map(({ cleanups }) => cleanups)).toEqual([...after.values()].map(() => 0));
    placed = after;
    now = next;
    // Layers and tools of a retained extension are those that it had before.
    for (const [name, life] of placed) {
      expect(agent.agent.parts.tools.get(`${name}__own`)?.handler).toBe(life.handler);
      const layers = kinds.flatMap((kind) => agent.agent.layers(kind).filter(({ extension }) => extension === name));
      expect(layers.map((layer) => layer.run === life.layer)).toEqual([true, true, true]);
    }
    const fresh = await scriptedAgent(planOf(next, notedExtensions().module));
    expect({ ...shownBy(agent), digest: '' }).toEqual({ ...shownBy(fresh), digest: '' });
    await fresh.close();
  }
  await agent.close();
  expect(lives.map(({ cleanups }) => cleanups)).toEqual(lives.map(() => 1));
}

describe('a change of a running agent', () => {
  test('L-01 keeps the retained parts, cleans up the removed ones once, and equals a fresh start', async () => {
    const step = fc
      .record({ next: wanted, isDropped: fc.constant(false) })
      .map(({ next, isDropped }) => ({ ...next, isDropped }));
    await fc.assert(
      fc.asyncProperty(wanted, step, async (first, next) => checkChain(first, [next])),
      { numRuns: samples(500) },
    );
  }, 60_000);

  test('L-01 so does a chain of changes, of which some are dropped', async () => {
    const step = fc
      .record({ next: wanted, isDropped: fc.boolean() })
      .map(({ next, isDropped }) => ({ ...next, isDropped }));
    await fc.assert(fc.asyncProperty(wanted, fc.array(step, { minLength: 2, maxLength: 6 }), checkChain), {
      numRuns: samples(60),
    });
  }, 60_000);

  test('L-01 so do agents of one process that change at the same time, each by itself', async () => {
    const step = fc
      .record({ next: wanted, isDropped: fc.boolean() })
      .map(({ next, isDropped }) => ({ ...next, isDropped }));
    const chain = fc.tuple(wanted, fc.array(step, { minLength: 1, maxLength: 4 }));
    const chains = fc.array(chain, { minLength: 2, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(chains, async (all) => void (await Promise.all(all.map((each) => checkChain(...each))))),
      { numRuns: samples(15) },
    );
  }, 60_000);
});
