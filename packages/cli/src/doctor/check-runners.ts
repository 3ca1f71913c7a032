import { readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { type Check, missing, ok, warning } from './check.ts';

const name = 'agent programs';

/**
 * Checks that the built runners exist and are newer than their sources; otherwise a checkout that was updated but not
 * built would run an old agent. In an installed package the file times are not compared, because they only show the
 * order in which npm wrote the files.
 */
export function checkRunners(runners: readonly string[], sources: string): Check {
  const build = 'Run `npm run build` in a checkout; else install @goondan/runtime again.';
  const absent = runners.filter((path) => statSync(path, { throwIfNoEntry: false }) === undefined);
  if (absent.length > 0) return missing(name, `not there: ${absent.join(', ')}`, build);
  if (sources.split(sep).includes('node_modules')) return ok(name, 'as they were installed');
  const builtAt = Math.min(...runners.map((path) => statSync(path).mtimeMs));
  const newer = sourcesIn(sources).find((path) => statSync(path).mtimeMs > builtAt);
  if (newer === undefined) return ok(name, 'built, and as new as their sources');
  return warning(name, `older than their sources: ${newer}`, build);
}

function sourcesIn(folder: string): string[] {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}
