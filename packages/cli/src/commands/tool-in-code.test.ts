// Tests with real agents: what each command prints about a tool that is made with `defineTool`. The module of the tool
// leaves a file behind when it is imported.
import { describe, expect, test } from 'bun:test';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openPlace } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

const place = openPlace();

const mark = () => join(place.folder, 'mark');

/** `parameters` is the code of the tool's schema. */
function writeDice(parameters = 'z.object({ sides: z.int().max(100), text: z.string().default("You rolled") })') {
  const script = [
    `- { when: 'roll', call: { tool: dice__roll, args: { sides: 6 } } }`,
    `- { afterTool: dice__roll, say: '{{result.text}}{{result.error.message}}' }`,
  ].join('\n');
  const more = [
    'kind: Tool\nmetadata: { name: dice }\nspec: { entry: ./tools/dice.ts }',
    'apiVersion: goondan.ai/v1\nkind: Extension\nmetadata: { name: idle }\nspec: { entry: ./idle.ts }',
  ].join('\n---\n');
  const agent = 'tools: [Tool/dice]\nextensions: [Extension/idle]';
  return place.write('bundle', {
    'goondan.yaml': sampleBundle({ script, agent, more }),
    'idle.ts': `export const register = (api) => api.pipeline.register('step', (ctx) => {
  if (ctx.toolCatalog[0].parameters.required[0] !== 'sides') throw new Error('a catalog without the schema');
  return ctx.next();
});`,
    'tools/dice.ts': `
      import { writeFileSync } from 'node:fs';
      import { defineTool } from '@goondan/types';
      import { z } from ${JSON.stringify(import.meta.resolve('zod').replace('file://', ''))};
      writeFileSync(${JSON.stringify(mark())}, 'I ran');
      export const roll = defineTool({
        description: 'Rolls a die.',
        parameters: ${parameters},
        run: (_ctx, { sides, text }) => ({ text: text + ' ' + sides + '.' }),
      });`,
  });
}

const run = (input: string) => place.run('run', 'bundle', '--trust', '--input', input);

describe('a tool of defineTool', () => {
  test('gdn validate says "schema in code" and runs nothing, however wrong the schema is', async () => {
    const folder = await writeDice(`{ type: 'nonsense' }`);
    expect(await place.run('validate', 'bundle')).toEqual({
      stdout: `Tool/dice: schema in code, checked when an agent starts.\n${folder}: 5 resources, no errors.\n`,
      stderr: '',
      exitCode: 0,
    });
    expect(JSON.parse((await place.run('validate', 'bundle', '--json')).stdout)).toEqual({
      valid: true,
      errors: [],
      warnings: [],
      schemaInCode: ['Tool/dice'],
    });
    expect(existsSync(mark())).toBe(false);
  });

  test('gdn explain: "schema in code" before the first start; the tools after it, and with --load', async () => {
    await writeDice();
    const before = await place.run('explain', 'bundle');
    expect(before.stdout).toContain('Tools:      Tool/dice: schema in code, known after a start or with `--load`\n');
    const explain = async (...args: string[]) =>
      JSON.parse((await place.run('explain', 'bundle', ...args, '--json')).stdout) as Record<string, unknown>;
    expect(await explain()).toMatchObject({ source: 'declared', tools: [], schemaInCode: ['Tool/dice'] });
    expect(existsSync(mark())).toBe(false);

    const toolSources = [{ name: 'dice__roll', from: 'Tool/dice', seenAt: null }];
    const loaded = await explain('--load', '--trust');
    expect(loaded).toMatchObject({ source: 'loaded', tools: ['dice__roll'], toolSources });
    expect((await run('roll')).stdout).toBe('You rolled 6.\n');
    const after = await explain();
    expect(after).toMatchObject({ source: 'last-run', tools: ['dice__roll'], toolSources });
    expect([loaded.schemaInCode, after.schemaInCode]).toEqual([undefined, undefined]);
  });

  test('gdn replay shows layers the same catalog, and does not run the tool', async () => {
    await writeDice();
    await run('roll');
    rmSync(mark());
    const { stdout, exitCode } = await place.run('replay', '--bundle', 'bundle', '--trust');
    expect(stdout).toContain('1 tool result served from the recording, 0 called');
    expect(stdout).toContain('No divergence');
    // Only the module contains the schema, so the module is imported.
    expect({ exitCode, wasImported: existsSync(mark()) }).toEqual({ exitCode: 0, wasImported: true });
  });
});
