// Tests answers that fit a schema with `gdn`, on files and in PostgreSQL, with a called agent in a shared process.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeTestDatabase, type TestDatabase } from '../../../postgres/src/testing/test-database.ts';
import {
  hasPostgres,
  test as postgresTest,
  testInProof as postgresProof,
} from '../../../postgres/src/testing/with-postgres.ts';
import { openPlace } from '../testing/open-place.ts';

const weather = {
  type: 'object',
  properties: { city: { type: 'string' }, tempC: { type: 'number' } },
  required: ['city', 'tempC'],
};
const answer = { city: 'Seoul', tempC: 21 };
const resources = [
  `kind: Model, metadata: { name: desk }, spec: { provider: scripted, model: m, options: { script: [
    { when: ^ask, call: { tool: agents__request, args: { target: clerk, input: "How warm?", output: { schema: ${JSON.stringify(weather)} } } } },
    { afterTool: agents__request, say: "Clerk: {{result.output}}" },
    { when: does not fit, say: ${JSON.stringify(`\`\`\`json\n${JSON.stringify(answer)}\n\`\`\``)} },
    { say: It is warm. }] } }`,
  `kind: Model, metadata: { name: clerk }, spec: { provider: scripted, model: m, options: { script: [
    { when: does not fit, call: { tool: output__finish, args: ${JSON.stringify(answer)} } }, { say: Warm. }] } }`,
  'kind: Agent, metadata: { name: desk }, spec: { modelConfig: { modelRef: Model/desk }, tools: [Tool/agents] }',
  'kind: Agent, metadata: { name: clerk }, spec: { modelConfig: { modelRef: Model/clerk }, isolation: agent, extensions: [Extension/killer] }',
  'kind: Extension, metadata: { name: killer }, spec: { entry: ./killer.ts }',
  'kind: Swarm, metadata: { name: shop }, spec: { entryAgent: Agent/desk, agents: [Agent/desk, Agent/clerk], policy: { spares: 0 } }',
];
/** Kills the process in the second step of a turn, once, when the first wrong answer has been recorded. */
const killer = (flag: string) => `import { existsSync, writeFileSync } from 'node:fs';
export function register({ pipeline }) {
  pipeline.register('step', async (ctx) => {
    const flag = ${JSON.stringify(flag)};
    if (ctx.stepIndex === 1 && ctx.turn.inputEvent.input === 'die' && !existsSync(flag)) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      writeFileSync(flag, '');
      process.kill(process.pid, 'SIGKILL');
    }
    return ctx.next();
  });
}
`;

const place = openPlace(afterAll);
let database: TestDatabase | undefined;
beforeAll(async () => {
  await place.write('bundle', {
    'goondan.yaml': resources.map((resource) => `{ apiVersion: goondan.ai/v1, ${resource} }\n`).join('---\n'),
    'killer.ts': killer(join(place.folder, 'killed')),
  });
  await place.write('.', {
    'weather.json': JSON.stringify(weather),
    'never.yaml': 'type: array\n',
    'wrong.yaml': 'type: object\nproperties:\n  city: { typ: string }\n',
  });
  if (!hasPostgres) return;
  database = await makeTestDatabase({ hasTables: false });
  expect(await place.runWith({ env: envOf('PostgreSQL') }, 'store', 'init')).toMatchObject({ exitCode: 0 });
});
afterAll(() => database?.drop());

function envOf(store: string): Record<string, string | undefined> {
  if (store === 'files') return {};
  const token = 'only-the-nodes-of-a-test-know-this-token-0123456789';
  return { GOONDAN_STORE: database?.address, GOONDAN_CLUSTER_TOKEN: token };
}

const stores = [
  ['files', test],
  // In `npm test`, stored-turn.process.test.ts demands a schema of a swarm on PostgreSQL.
  ['PostgreSQL', postgresProof],
] as const;

for (const [store, testHere] of stores) {
  const gdn = (...args: string[]) => place.runWith({ env: envOf(store) }, ...args, '--bundle', 'bundle');
  const ask = (input: string, ...more: string[]) => gdn('run', '--trust', '--input', input, ...more);

  testHere(
    `Y-01 ${store}: --schema demands an answer, and every place that shows the turn has the output`,
    async () => {
      expect(await ask('How warm?', '--schema', 'weather.json')).toMatchObject({
        stdout: `${JSON.stringify(answer)}\n`,
        exitCode: 0,
      });
      const { stdout } = await ask('How warm?', '--schema', 'weather.json', '--json');
      const report = JSON.parse(stdout) as { turnId: string };
      expect(report).toMatchObject({ finishReason: 'text_response', output: answer, steps: 2 });
      const [trace, turns, history] = await Promise.all([
        gdn('trace', report.turnId),
        gdn('trace', report.turnId, '--json'),
        gdn('history', 'desk', '--json'),
      ]);
      expect(trace.stdout).toContain(`= ${JSON.stringify(answer)}`);
      expect(turns.stdout).toContain('"output": ');
      expect(JSON.stringify(JSON.parse(history.stdout))).toContain(`"output":${JSON.stringify(answer)}`);
      const shown = await gdn('history', 'desk');
      expect(shown.stdout).toMatch(/runtime +append +.*does not fit the demanded JSON Schema/);
    },
  );

  testHere(`Y-01 ${store}: --schema reads a pipe, and names the place of a mistake in it`, async () => {
    const script = 'printf %s "$TEXT" | node "$GDN" run bundle --trust --input "How warm?" --schema /dev/stdin';
    const askWith = async (TEXT: string) => {
      const GDN = join(import.meta.dir, '../../bin/gdn.cjs');
      const env = { ...process.env, GOONDAN_STATE_ROOT: place.stateRoot, ...envOf(store), TEXT, GDN };
      const child = Bun.spawn(['sh', '-c', script], { cwd: place.folder, env, stdout: 'pipe', stderr: 'pipe' });
      return Promise.all([child.stdout.text(), child.stderr.text()]);
    };
    expect(await askWith(JSON.stringify(weather))).toEqual([`${JSON.stringify(answer)}\n`, expect.any(String)]);
    expect(await askWith('type: object\nnope: 1\n')).toEqual([
      '',
      expect.stringMatching(/^E_OUTPUT_INVALID: \/dev\/stdin:2:1: /),
    ]);
  });

  testHere(`Y-01 ${store}: an agent gets the output of an agent in another process`, async () => {
    expect((await ask('ask')).stdout).toBe(`Clerk: ${JSON.stringify(answer)}\n`);
  });

  testHere(`Y-01 ${store}: an answer that never fits fails with its code`, async () => {
    const { stdout, stderr, exitCode } = await ask('How warm?', '--schema', 'never.yaml');
    expect([stdout, exitCode]).toEqual(['', 1]);
    expect(stderr).toContain('E_OUTPUT_SCHEMA: The answer does not fit the demanded schema: ');
  });
}

postgresTest('Y-01 PostgreSQL: a wrong answer still goes back to the model after kill -9 of its process', async () => {
  const asked = ['--bundle', 'bundle', '--agent', 'clerk', '--input', 'die', '--schema', 'weather.json', '--json'];
  const { stdout } = await place.runWith({ env: envOf('PostgreSQL') }, 'run', '--trust', ...asked);
  expect(JSON.parse(stdout)).toMatchObject({ output: answer, steps: 2 });
  expect(existsSync(join(place.folder, 'killed'))).toBe(true);
});

test('Y-01 a file without a usable schema is refused with its place, before anything starts', async () => {
  const { stderr, exitCode } = await place.run('run', 'bundle', '--trust', '--input', 'x', '--schema', 'wrong.yaml');
  expect(stderr).toContain('E_OUTPUT_INVALID: wrong.yaml:3:11: ');
  expect(stderr).toContain('properties.city has the unknown keyword "typ".\nDid you mean `type`?\n');
  expect(exitCode).toBe(2);
  const alone = await place.run('run', 'bundle', '--schema', 'weather.json');
  expect(alone.stderr).toContain("option '--schema' needs option '--input'");
});

test.each([
  ['run bundle --trust --input x --schema nope.json'],
  ['run bundle --trust --input x --file nope.json'],
  ['usage --bundle bundle --prices nope.json'],
])('a missing file is a wrong command line, and the hint names the path that was tried: gdn %s', async (line) => {
  const tried = join(place.folder, 'nope.json');
  expect(await place.run(...line.split(' '))).toMatchObject({
    stderr: `E_USAGE: The file nope.json does not exist.\nCheck the path. The command looked for ${tried}\n`,
    exitCode: 2,
  });
});

test('Y-01 gdn send --schema --wait demands the same of a running swarm', async () => {
  await place.serve('bundle');
  const send = (...more: string[]) =>
    place.run('send', '--bundle', 'bundle', '--input', 'How warm?', '--schema', 'weather.json', ...more);
  expect(await send('--wait')).toMatchObject({ stdout: `${JSON.stringify(answer)}\n`, exitCode: 0 });
  expect(JSON.parse((await send('--wait', '--json')).stdout)).toMatchObject({ output: answer });
  expect(await place.run('stop', '--bundle', 'bundle')).toMatchObject({ exitCode: 0 });
});
