// The examples of the seeds compile with the contracts of `@goondan/types`, typed as the seeds type them.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
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

test('B-09 every example of the seeds compiles', async () => {
  const compiler = join(repository, 'node_modules/.bin/tsc');
  const child = Bun.spawn([compiler, '--pretty', 'false', '-p', 'test/seeds/tsconfig.json'], { cwd: repository });
  const errors = [...(await child.stdout.text()).matchAll(/^test\/seeds\/examples\/([^(]+)\(\d+,\d+\): (.+)$/gm)];
  expect(errors.map(([, file = '', message = '']) => `${file} ${message}`)).toEqual(refusedBySeeds);
}, 60_000);
