/** A repository of its own for a test of `npm test`: the scripts that run tests, this Bun, and the given files. */
import { cpSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './read-repository.ts';

const scripts = ['run-bun', 'failed-tests', 'engine-settings', 'usual-engine', 'refuse-leftovers'];
const copied = [
  ...scripts.map((name) => `scripts/${name}.mjs`),
  'packages/runtime/bin/find-bun.cjs',
  'packages/runtime/package.json',
  'test/seed.ts',
];

/** Makes the repository in a new folder below `temporary`, with copies of `more` paths of this repository. */
export async function makeScratchRepository(
  temporary: string,
  files: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Promise<string> {
  const place = mkdtempSync(join(temporary, 'repository-'));
  for (const path of [...copied, ...more]) cpSync(join(repository, path), join(place, path));
  mkdirSync(join(place, 'node_modules/bun/bin'), { recursive: true });
  symlinkSync(process.execPath, join(place, 'node_modules/bun/bin/bun.exe'));
  symlinkSync(join(repository, 'node_modules/fast-check'), join(place, 'node_modules/fast-check'));
  const all = { ...files, 'node_modules/bun/package.json': JSON.stringify({ version: Bun.version }) };
  for (const [path, text] of Object.entries(all)) await Bun.write(join(place, path), text);
  return place;
}
