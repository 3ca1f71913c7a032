/**
 * Finds the Bun that npm installed, from plain Node, and gives the flags of our own programs. npm leaves the binary in one
 * of two places: in the package of the platform, or, if the project has the package `bun` too, in that package, because
 * its install script moves the binary. This file is CommonJS, because Node starts `gdn` faster without modules.
 */
'use strict';

const { existsSync, statSync } = require('node:fs');
const { createRequire } = require('node:module');
const { devNull } = require('node:os');
const { dirname, join } = require('node:path');

/**
 * The current folder does not decide what runs: no `bunfig.toml`, no `tsconfig.json`, no `.env`, no package fetched at the
 * first import. The program ends with its parent, even if the parent is killed.
 */
const programFlags = [
  `--config=${devNull}`,
  `--tsconfig-override=${devNull}`,
  '--no-env-file',
  '--no-install',
  '--no-orphans',
];

/** Bun's placeholder is a few hundred bytes, its binary about a hundred megabytes. */
const smallestBinary = 1024 * 1024;

/** The path of the Bun that this package depends on, or undefined when there is none. */
function findBun() {
  const fromHere = createRequire(join(__dirname, 'find-bun.cjs'));
  for (const name of platformPackages(process.platform, process.arch)) {
    const manifest = resolveOrUndefined(fromHere, `${name}/package.json`);
    if (!manifest) continue;
    const binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'bun.exe' : 'bun');
    if (isBinary(binary) && (!name.includes('-musl') || isMusl())) return binary;
  }

  const manifest = resolveOrUndefined(fromHere, 'bun/package.json');
  if (!manifest) return undefined;
  // A project may have another version of Bun for itself.
  const wanted = Object.values(fromHere('../package.json').optionalDependencies);
  const binary = join(dirname(manifest), 'bin', 'bun.exe');
  return wanted.includes(fromHere(manifest).version) && isBinary(binary) ? binary : undefined;
}

/** Lists the packages that may hold Bun for a platform, the best first. Those for musl do not run elsewhere. */
function platformPackages(platform, arch) {
  const system = { darwin: 'darwin', linux: 'linux', android: 'linux', freebsd: 'freebsd', win32: 'windows' }[platform];
  const processor = { arm64: 'aarch64', x64: 'x64' }[arch];
  if (!system || !processor) return [];

  const name = `@oven/bun-${system}-${processor}`;
  if (platform === 'android') return [`${name}-android`];
  const libraries = platform === 'linux' ? [`${name}-musl`, name] : [name];
  // `-baseline` is for x64 processors without AVX2; npm never chooses it, but a person may install it.
  return processor === 'x64' ? [...libraries, ...libraries.map((library) => `${library}-baseline`)] : libraries;
}

function resolveOrUndefined(require, specifier) {
  try {
    return require.resolve(specifier);
  } catch {
    return undefined;
  }
}

function isBinary(path) {
  return existsSync(path) && statSync(path).size > smallestBinary;
}

/** Takes milliseconds, so `findBun` asks only if a package for musl is installed. */
function isMusl() {
  // Otherwise the report looks up the host names of every open socket.
  process.report.excludeNetwork = true;
  return !process.report.getReport().header.glibcVersionRuntime;
}

module.exports = { findBun, platformPackages, programFlags };
