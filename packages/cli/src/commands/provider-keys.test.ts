// Tests with real agents: `gdn init` with a key set, and the provider that the bundle then uses.
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { anthropicWire } from '../../../runtime/src/agent/model/providers/wire/anthropic-wire.ts';
import { googleWire } from '../../../runtime/src/agent/model/providers/wire/google-wire.ts';
import { openaiWire } from '../../../runtime/src/agent/model/providers/wire/openai-wire.ts';
import { startWireServer } from '../../../runtime/src/agent/model/providers/wire/wire-server.ts';
import { openPlace } from '../testing/open-place.ts';
import { noProviders } from '../testing/no-providers.ts';

const place = openPlace();

const key = 'canary-key-of-mine';
const usage = { input: 20, output: 3, cached: 0 };

const cases = [
  {
    provider: 'anthropic',
    dialect: anthropicWire,
    variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'],
    path: '/v1/messages',
    header: ['x-api-key', key],
  },
  {
    provider: 'openai',
    dialect: openaiWire,
    variables: ['OPENAI_API_KEY', 'OPENAI_BASE_URL'],
    path: '/v1/chat/completions',
    header: ['authorization', `Bearer ${key}`],
  },
  {
    provider: 'google',
    dialect: googleWire,
    variables: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GOOGLE_GENERATIVE_AI_BASE_URL'],
    path: '/v1beta/models/gemini-flash-latest:streamGenerateContent?alt=sse',
    header: ['x-goog-api-key', key],
  },
] as const;

describe('gdn init with a key set', () => {
  test.each(cases)(
    '$provider: the bundle is valid, and calls it at the address of the environment',
    async ({ provider, dialect, variables: [keyVariable, addressVariable], path, header: [name, value] }) => {
      await using server = startWireServer(dialect);
      server.answer({ reply: { text: ['Good ', 'morning.'], usage } });
      const env = { ...noProviders, [keyVariable]: key, [addressVariable]: server.url };
      const gdn = (...args: string[]) => place.runWith({ env }, ...args);

      const written = JSON.parse((await gdn('init', 'my-swarm', '--no-git', '--json')).stdout);
      expect(written).toMatchObject({ provider });
      expect(written.files).not.toContain('model.yaml');
      expect(await Bun.file(join(place.folder, 'my-swarm/README.md')).text()).not.toContain('model.yaml');
      expect(JSON.parse((await gdn('validate', 'my-swarm', '--json')).stdout)).toEqual({
        valid: true,
        errors: [],
        warnings: [],
      });
      const answer = await gdn('run', 'my-swarm', '--trust', '--input', 'hello');
      expect(answer).toEqual({ stdout: 'Good morning.\n', stderr: '', exitCode: 0 });
      expect(server.requests.map((request) => request.path)).toEqual([path]);
      expect(server.requests[0]?.headers.get(name)).toBe(value);
      for (const folder of ['my-swarm', 'state']) await expectNoKeyBelow(join(place.folder, folder));
    },
  );

  test('a key in .env of the bundle works, too, and the environment takes precedence', async () => {
    await using server = startWireServer(openaiWire);
    server.answer({ reply: { text: ['Hi.'], usage } });
    const env = { ...noProviders, OPENAI_BASE_URL: server.url };
    const init = await place.runWith({ env: { ...env, OPENAI_API_KEY: key } }, 'init', 'my-swarm', '--no-git');
    expect(init.exitCode).toBe(0);
    const run = ['run', 'my-swarm', '--trust', '--input', 'hello'];
    const { stderr, exitCode } = await place.runWith({ env }, ...run);
    expect(stderr).toContain('E_ENV_MISSING: ');
    expect(stderr).toContain('OPENAI_API_KEY');
    expect(exitCode).toBe(3);
    await place.write('my-swarm', { '.env': 'OPENAI_API_KEY=of-the-folder\n' });
    await place.runWith({ env }, ...run);
    await place.runWith({ env: { ...env, OPENAI_API_KEY: key } }, ...run);
    const sent = server.requests.map(({ headers }) => headers.get('authorization'));
    expect(sent).toEqual(['Bearer of-the-folder', `Bearer ${key}`]);
  });
});

async function expectNoKeyBelow(folder: string): Promise<void> {
  const files = [...new Bun.Glob('**/*').scanSync({ cwd: folder, dot: true })];
  expect(files).not.toBeEmpty();
  for (const file of files) expect(await Bun.file(join(folder, file)).text(), file).not.toContain(key);
}
