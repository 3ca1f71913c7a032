// Tests bundle code that throws: people get the place in the code, models get a short message.
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MiddlewareKind } from '@goondan/types';
import { extensionFile, type ScriptedAgentOptions, scriptedAgent, type TestedTurn } from '../../testing/index.ts';
import type { LayerRecord } from '../../trace/turn-trace.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'goondan-places-')));
afterAll(() => rmSync(root, { recursive: true }));

let files = 0;
/** Creates an extension whose `register` has these lines. The first of them is line 3 of its file. */
async function extensionOf(...lines: string[]) {
  const entry = `extensions/rules-${++files}.ts`;
  const head = [
    `import type { ExtensionApi } from '@goondan/types';`,
    `export function register(api: ExtensionApi): void {`,
  ];
  await Bun.write(join(root, entry), [...head, ...lines, '}'].join('\n'));
  return { entry, declaration: extensionFile('house-rules', root, `./${entry}`) };
}

const toolSays = [{ when: 'go', call: { tool: 'dice__roll' } }, { say: 'The tool says {{result}}' }];
const dice = {
  name: 'dice',
  exports: [{ name: 'roll', description: 'Rolls dice.', effects: 'none' as const }],
  handlers: { roll: () => 4 },
};

async function talk(options: ScriptedAgentOptions, input = 'go') {
  const agent = await scriptedAgent({ bundleFolder: root, script: toolSays, ...options });
  const turn = await agent.say(input);
  return { agent, turn, shown: JSON.stringify([agent.requests, await agent.messages()]) };
}

function layerOf({ trace }: TestedTurn, kind: MiddlewareKind): LayerRecord | undefined {
  const chains = trace === undefined ? [] : [trace];
  for (const chain of chains) {
    const found = chain.kind === kind ? chain.layers[0] : undefined;
    if (found !== undefined) return found;
    chains.push(...chain.inside);
  }
  return undefined;
}

describe('a layer that throws', () => {
  test.each(['turn', 'step', 'model'] as const)(
    'in a %s chain is named with its place in the turn, the log and the trace',
    async (kind) => {
      const { entry, declaration } = await extensionOf(
        `  api.pipeline.register('${kind}', async (ctx) => {`,
        `    const result = await ctx.next();`,
        `    rulez.apply(result);`,
        `    return result;`,
        `  });`,
      );
      const { agent, turn, shown } = await talk({ extensions: [declaration] }, 'hello');
      const place = { file: entry, line: 5, column: 5 };
      const stack = expect.stringMatching(
        new RegExp(`^ReferenceError: rulez is not defined\n    at ${entry}:5:5\n(.|\n)*    … \\d+ frames? of goondan$`),
      );
      expect(turn.result.error).toEqual({
        code: 'E_EXT_MIDDLEWARE',
        message: 'rulez is not defined',
        extension: 'house-rules',
        place,
      });
      expect(agent.logs).toMatchObject([
        {
          level: 'error',
          event: 'turn.failed',
          extension: 'house-rules',
          place,
          data: { code: 'E_EXT_MIDDLEWARE', stack },
        },
      ]);
      expect(layerOf(turn, kind)).toMatchObject({ outcome: 'failed', place, stack });
      expect(turn.trace).toMatchObject({ place });
      expect(agent.told.find(({ name }) => name === 'turn.failed')?.payload).toMatchObject({ error: { place } });
      expect(shown).not.toContain(entry);
    },
  );

  test('in a toolCall chain is named with its place for people; the model gets a short message', async () => {
    const { entry, declaration } = await extensionOf(
      `  api.pipeline.register('toolCall', async (ctx) => {`,
      `    ctx.args = rulez;`,
      `    return ctx.next();`,
      `  });`,
    );
    const { agent, turn, shown } = await talk({ extensions: [declaration], tools: [dice] });
    const place = { file: entry, line: 4, column: 16 };
    expect(turn.text).toStartWith('The tool says');
    expect(shown).toContain('rulez is not defined');
    expect(shown).not.toContain(entry);
    expect(agent.logs).toMatchObject([
      {
        level: 'warn',
        event: 'tool.failed',
        message: 'Tool "dice__roll" failed: rulez is not defined',
        extension: 'house-rules',
        place,
        data: { code: 'E_EXT_MIDDLEWARE', stack: expect.stringContaining(`${entry}:4:16`) },
      },
    ]);
    expect(agent.told.find(({ name }) => name === 'tool.failed')?.payload).toMatchObject({ error: { place } });
    expect(layerOf(turn, 'toolCall')).toMatchObject({ place });
  });

  test('and is skipped: the warning names the place', async () => {
    const { entry, declaration } = await extensionOf(
      `  const late = async () => { await Bun.sleep(0); throw new Error('late'); };`,
      `  api.pipeline.register('step', async (ctx) => {`,
      `    await late();`,
      `    return ctx.next();`,
      `  }, { onError: 'skip' });`,
    );
    const { agent, turn } = await talk({ extensions: [declaration] }, 'hello');
    expect(turn.result.error).toBeUndefined();
    const place = { file: entry, line: 3 };
    const stack = expect.stringContaining(`${entry}:5:`);
    expect(agent.logs).toMatchObject([
      { level: 'warn', event: 'middleware.skipped', extension: 'house-rules', place, data: { stack } },
    ]);
    expect(layerOf(turn, 'step')).toMatchObject({ outcome: 'skipped', place, stack });
  });

  test('is not blamed for an error that it only passed on', async () => {
    const { entry, declaration } = await extensionOf(
      `  api.pipeline.register('step', async (ctx) => {`,
      `    const result = await ctx.next();`,
      `    return result;`,
      `  });`,
    );
    const acme = 'node_modules/acme/index.ts';
    await Bun.write(
      join(root, acme),
      `export const register = (api) => api.pipeline.register('step', () => {\n  throw new Error('out of order');\n});`,
    );
    const inner = extensionFile('acme', root, `./${acme}`);
    const { agent, turn } = await talk({ extensions: [declaration, inner] });
    const place = { file: acme, line: 2 };
    expect(turn.result.error).toMatchObject({ extension: 'acme', message: 'out of order', place });
    expect(layerOf(turn, 'step')).toMatchObject({ extension: 'house-rules', outcome: 'failed' });
    expect(layerOf(turn, 'step')).not.toHaveProperty('place');
    // The stack also contains the outer layer, at the place where it called next().
    const stack = expect.stringMatching(new RegExp(`at ${acme}:2:\\d+\n    at ${entry}:4:`));
    expect(agent.logs).toMatchObject([{ extension: 'acme', place, data: { stack } }]);
  });

  test('is the only layer named when it returns no result: an outer layer is not its place', async () => {
    const outer = await extensionOf(
      `  api.pipeline.register('turn', async (ctx) => {`,
      `    const result = await ctx.next();`,
      `    return result;`,
      `  });`,
    );
    const inner = await extensionOf(
      `  api.pipeline.register('step', async (ctx) => ({ ...(await ctx.next()), toolCalls: 1 }));`,
    );
    const extensions = [outer.declaration, extensionFile('inner', root, `./${inner.entry}`)];
    const { agent, turn } = await talk({ extensions }, 'hello');
    expect(turn.result.error).toMatchObject({ code: 'E_MIDDLEWARE_RESULT', extension: 'inner' });
    expect(turn.result.error).not.toHaveProperty('place');
    expect(JSON.stringify([agent.logs, turn.trace])).not.toContain(outer.entry);
  });

  test('has its place when it called next() twice and ignored the error', async () => {
    const { entry, declaration } = await extensionOf(
      `  api.pipeline.register('step', async (ctx) => {`,
      `    const result = await ctx.next();`,
      `    void ctx.next();`,
      `    return result;`,
      `  });`,
    );
    const { turn } = await talk({ extensions: [declaration] }, 'hello');
    expect(turn.result.error).toMatchObject({ code: 'E_NEXT_TWICE', place: { file: entry, line: 5 } });
  });

  test('masks secrets in its message and stack', async () => {
    const { declaration } = await extensionOf(
      `  api.pipeline.register('turn', async function openSesame1() { throw new Error('key openSesame1'); });`,
    );
    const { agent, turn } = await talk({ extensions: [declaration], secrets: ['openSesame1'] });
    expect(JSON.stringify([agent.logs, turn.result, turn.trace, agent.told])).not.toContain('openSesame1');
    expect(agent.logs).toMatchObject([{ data: { stack: expect.stringContaining('at *** (') } }]);
  });
});

describe('a tool that throws', () => {
  const declared = async (...lines: string[]) => {
    const entry = `tools/dice-${++files}.ts`;
    await Bun.write(join(root, entry), lines.join('\n'));
    return { entry, tool: { ...dice, handlers: undefined, root, entry } };
  };

  test('is logged with its place and stack; the model gets a short message', async () => {
    const { entry, tool } = await declared(
      `type Input = { sides: number };`,
      `export const handlers = {`,
      `  roll: (_ctx: unknown, input: Input) => {`,
      `    return sidez.at(input.sides);`,
      `  },`,
      `};`,
    );
    const { handlers: _, ...declaration } = tool;
    const { agent, turn, shown } = await talk({ tools: [declaration] });
    const place = { file: entry, line: 4, column: 12 };
    expect(turn.result.finishReason).toBe('text_response');
    expect(shown).toContain('sidez is not defined');
    expect(shown).not.toContain(entry);
    const stack = expect.stringContaining(`    at roll (${entry}:4:12)\n`);
    expect(agent.logs).toMatchObject([
      {
        level: 'warn',
        event: 'tool.failed',
        message: 'Tool "dice__roll" failed: sidez is not defined',
        place,
        data: { code: 'E_TOOL_FAILED', stack },
      },
    ]);
    expect(agent.told.find(({ name }) => name === 'tool.completed')?.payload).toMatchObject({ error: { place } });
    const [, call] = turn.trace?.inside[0]?.inside ?? [];
    expect(call).toMatchObject({ kind: 'toolCall', outcome: 'error', place, stack });
  });

  test('is logged as a warning even if it is not code of the bundle', async () => {
    const roll = () => {
      throw new TypeError('no dice');
    };
    const { agent } = await talk({ tools: [{ ...dice, handlers: { roll } }] });
    expect(agent.logs).toMatchObject([{ level: 'warn', message: 'Tool "dice__roll" failed: no dice' }]);
  });
});

describe('other code of an extension that throws', () => {
  test.each([
    ['an event handler', `  api.events.on('turn.started', () => { rulez(); });`],
    ['an event handler that is async', `  api.events.on('turn.started', async () => { await 1; rulez(); });`],
  ])('%s is logged with its extension and place', async (_title, line) => {
    const { entry, declaration } = await extensionOf(line);
    const { agent, turn } = await talk({ extensions: [declaration] }, 'hello');
    expect(turn.result.error).toBeUndefined();
    expect(agent.logs).toMatchObject([
      {
        level: 'error',
        event: 'events.handler_failed',
        message: 'A handler of "turn.started" failed: rulez is not defined',
        extension: 'house-rules',
        place: { file: entry, line: 3 },
        data: { stack: expect.stringContaining(`${entry}:3:`) },
      },
    ]);
  });

  test('beforeExit is logged with its extension and place', async () => {
    const { entry, declaration } = await extensionOf(`  process.on('beforeExit', () => { rulez(); });`);
    const { agent } = await talk({ extensions: [declaration] }, 'hello');
    await agent.close();
    expect(agent.logs).toMatchObject([
      {
        event: 'extension.cleanup_failed',
        message: 'cleanup failed: rulez is not defined',
        extension: 'house-rules',
        place: { file: entry, line: 3 },
        data: { stack: expect.stringContaining(`${entry}:3:`) },
      },
    ]);
  });
});
