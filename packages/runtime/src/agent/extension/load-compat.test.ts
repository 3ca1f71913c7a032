import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extension, extensionFile, scriptedAgent } from '../../testing/index.ts';
import { loadCompat } from './load-compat.ts';
import type { ExtensionDeclaration } from './load-extension.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'compat-'));
});
afterAll(() => rm(root, { recursive: true }));

/** Declares an extension whose module is written for v0.10. */
async function old(name: string, body: string, compat?: 'v010'): Promise<ExtensionDeclaration> {
  const entry = `./${name}.js`;
  await Bun.write(join(root, entry), `export function register(api) { ${body} }`);
  const declaration = extensionFile(name, root, entry);
  const { resource } = declaration;
  if (compat === undefined) return declaration;
  return { ...declaration, resource: { ...resource, spec: { ...resource.spec, compat } } };
}

const polite = `api.pipelines.mutate('turn.pre', (ctx) => ({ ...ctx, turn: { ...ctx.turn, input: ctx.turn.input + ', please' } }));`;

describe('compat: v010', () => {
  test('L-04 runs the module of an old extension unchanged, beside a new one', async () => {
    const added = extension('new', ({ pipeline }) => pipeline.register('turn', (ctx) => ctx.next()));
    const agent = await scriptedAgent({ extensions: [added, await old('polite', polite, 'v010')] });
    expect((await agent.say('tea')).text).toBe('You said: tea, please');
  });

  test('L-04 without it, the start fails with an error that names it', async () => {
    const started = scriptedAgent({ extensions: [await old('wrong', polite)] });
    expect(await started.catch((error: unknown) => error)).toMatchObject({
      code: 'E_EXT_COMPAT',
      suggestion: expect.stringContaining('compat: v010'),
    });
  });

  test('L-04 without the package, the error has the line that installs it', async () => {
    const notInstalled = () => undefined;
    const loaded = loadCompat('polite', root, notInstalled);
    expect(await loaded.catch((error: unknown) => error)).toMatchObject({
      code: 'E_EXT_COMPAT',
      message: 'Extension/polite has compat: v010, but @goondan/v010 is not installed.',
      suggestion: expect.stringContaining('npm install @goondan/v010'),
    });
  });
});
