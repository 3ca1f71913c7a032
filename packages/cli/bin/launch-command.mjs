/**
 * How Bun is started to be `gdn`: nothing in the folder where it was typed decides what runs, so Bun starts elsewhere and is
 * told that folder as its first argument.
 */
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { programFlags } from '@goondan/runtime/find-bun';

const bundle = new URL('../dist/gdn/', import.meta.url);

/** `folder`: where it was typed; empty when that is gone. */
export function launchCommand(bun, folder, args) {
  return { command: [bun, ...programFlags, programFile('main'), folder, ...args], cwd: '/' };
}

/** The program of a source, `main` or `run/detached-main`: in the bundle, or itself. */
export function programFile(source) {
  const file = isBundleFresh()
    ? new URL(`${source.replace(/^.*\//, '')}.js`, bundle)
    : new URL(`../src/${source}.ts`, import.meta.url);
  return fileURLToPath(file);
}

/** Whether `npm run build` has bundled the program, from sources of which none is newer. They are listed in the repository only. */
function isBundleFresh() {
  if (timeOf(new URL('main.js', bundle)) === undefined) return false;
  const list = new URL('sources.json', bundle);
  const built = timeOf(list);
  if (built === undefined) return true;
  const repository = new URL('../../../', import.meta.url);
  const sources = Object.values(JSON.parse(readFileSync(list, 'utf8'))).flat();
  return sources.every((path) => (timeOf(new URL(path, repository)) ?? Infinity) <= built);
}

/** Undefined when there is no such file. */
function timeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
