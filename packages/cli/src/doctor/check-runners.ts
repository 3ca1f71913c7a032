import { readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { type Check, missing, ok, warning } from './check.ts';

const name = 'agent programs';

/**
 * Whether what the processes of agents and connectors run is there, and not older than its sources: a checkout that was
 * updated and not built would run yesterday's agent. In an installed package the times of files only say in which order
 * npm has written them.
 */
export function checkRunners(runners: readonly string[], sources: string): Check {
  const build = 'Run `npm run build` in a checkout; else install @goondan/runtime again.';
  const absent = runners.filter((path) => statSync(path, { throwIfNoEntry: false }) === undefined);
  if (absent.length > 0) return missing(name, `not there: ${absent.join(', ')}`, build);
  if (sources.split(sep).includes('node_modules')) return ok(name, 'there, as they were installed');
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
