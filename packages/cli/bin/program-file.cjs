/** Decides whether `gdn` runs from the bundle of `npm run build` or from its sources. */
'use strict';

const { readFileSync, statSync } = require('node:fs');
const { join } = require('node:path');

const bundle = join(__dirname, '..', 'dist', 'gdn');
const built = join(bundle, 'main.js');
/** The list of the sources. An installed package has none, so its built program is always used. */
const list = join(bundle, 'sources.json');
/** Whether to run the bundle; found out once, because that reads the times of 800 files. */
let isFresh;

/**
 * Returns the file that starts `gdn`. In a checkout, that file compares the times of the sources on Bun, which takes half
 * as long as on Node.
 */
function mainFile() {
  if (timeOf(built) === undefined) return sourceFile('main');
  return timeOf(list) === undefined ? built : join(__dirname, 'run-newest.cjs');
}

/**
 * Returns the file to run for `main` or `run/detached-main`: the built file if it is up to date, otherwise the source.
 */
function programFile(source) {
  isFresh ??= isBundleFresh();
  return isFresh ? join(bundle, `${source.replace(/^.*\//, '')}.js`) : sourceFile(source);
}

function sourceFile(source) {
  return join(__dirname, `../src/${source}.ts`);
}

/** Tells whether `npm run build` has built the program and no source is newer. */
function isBundleFresh() {
  if (timeOf(built) === undefined) return false;
  const began = timeOf(list);
  if (began === undefined) return true;
  const repository = join(__dirname, '..', '..', '..');
  const sources = Object.values(JSON.parse(readFileSync(list, 'utf8'))).flat();
  // npm builds the program after it has installed packages, so their files need no look.
  const isOurs = (path) => !path.startsWith('node_modules/');
  return sources.every((path) => !isOurs(path) || (timeOf(`${repository}/${path}`) ?? Infinity) <= began);
}

/** Returns the time of the last change; undefined when the file does not exist. */
function timeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}

module.exports = { mainFile, programFile };
