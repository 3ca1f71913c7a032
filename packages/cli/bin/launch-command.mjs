/**
 * Builds the command that starts Bun as `gdn`. Nothing in the current folder may decide what runs, so Bun starts in
 * another folder, and the program gets the current folder as its first argument.
 */
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { programFlags } from '@goondan/runtime/find-bun';

const bundle = new URL('../dist/gdn/', import.meta.url);
/** Whether to run the bundle; found out once, because that reads the times of 800 files. */
let isFresh;

/** `folder` is the current folder; empty when it no longer exists. */
export function launchCommand(bun, folder, args) {
  return { command: [bun, ...programFlags, programFile('main'), folder, ...args], cwd: '/' };
}

/**
 * Returns the file to run for `main` or `run/detached-main`: the built file if it is up to date, otherwise the source.
 */
export function programFile(source) {
  isFresh ??= isBundleFresh();
  const file = isFresh
    ? new URL(`${source.replace(/^.*\//, '')}.js`, bundle)
    : new URL(`../src/${source}.ts`, import.meta.url);
  return fileURLToPath(file);
}

/**
 * Tells whether `npm run build` has built the program and no source is newer. An installed package has no list of
 * sources, so its built program is always used.
 */
function isBundleFresh() {
  if (timeOf(new URL('main.js', bundle)) === undefined) return false;
  const list = new URL('sources.json', bundle);
  const built = timeOf(list);
  if (built === undefined) return true;
  // Uses plain paths, because creating a URL for each of the 800 sources would take as long as all other work of the
  // launcher.
  const repository = fileURLToPath(new URL('../../../', import.meta.url));
  const sources = Object.values(JSON.parse(readFileSync(list, 'utf8'))).flat();
  return sources.every((path) => (timeOf(`${repository}${path}`) ?? Infinity) <= built);
}

/** Returns the time of the last change; undefined when the file does not exist. */
function timeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
