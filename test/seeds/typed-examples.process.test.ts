// The examples of the seeds compile with the contracts of `@goondan/types`, typed as the seeds type them.
import { beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { extensionFile, scriptedAgent } from '@goondan/runtime/testing';
import { repository } from '../read-repository.ts';

/** Lines that the seeds' own types refuse, too. Nothing else may be added here: a contract has to take every example. */
const refusedBySeeds = [
  // Seed 004 gives a TurnResult no status.
  "000-5-2-three-kinds.ts error TS2339: Property 'status' does not exist on type 'TurnResult'.",
  // A state is a JsonValue, which may be a string.
  "000-9-3-tool-filter.ts error TS2339: Property 'selectedTools' does not exist on type 'string | number | boolean | JsonArray | JsonObject'.",
  // Everything can be thrown.
  "000-9-5-retry.ts error TS18046: 'error' is of type 'unknown'.",
];

let errors: readonly string[] = [];

beforeAll(async () => {
  const compiler = join(repository, 'node_modules/.bin/tsc');
  const child = Bun.spawn([compiler, '--pretty', 'false', '-p', 'test/seeds/tsconfig.json'], { cwd: repository });
  const found = (await child.stdout.text()).matchAll(/^test\/seeds\/(?:examples|types)\/([^(]+)\(\d+,\d+\): (.+)$/gm);
  errors = [...found].map(([, file = '', message = '']) => `${file} ${message}`);
}, 60_000);

const ownTypes = 'typed-as-004.ts';

test('B-09 every example of the seeds compiles', () => {
  expect(errors.filter((error) => !error.startsWith(ownTypes))).toEqual(refusedBySeeds);
});

test('an extension with the types of seed 004 compiles', () => {
  expect(errors.filter((error) => error.startsWith(ownTypes))).toEqual([]);
});

test('an extension with the types of seed 004 runs', async () => {
  const agent = await scriptedAgent({
    script: [{ when: 'go', call: { tool: 'mine__echo', args: { a: 1 } } }, { say: 'done' }],
    extensions: [extensionFile('mine', join(import.meta.dir, 'types'), `./${ownTypes}`)],
  });
  const { text, result } = await agent.say('go');
  expect([text, result.error]).toEqual(['done', undefined]);
});
