/**
 * Finds the Bun that npm installed, from plain Node, and gives the flags of our own programs. npm leaves the binary in one
 * of two places: the postinstall script of the `bun` package moves it into that package; where install scripts are blocked,
 * that package has a placeholder, and the binary stays in the package of the platform. This file is CommonJS, because Node
 * starts `gdn` faster without modules.
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
  const bunManifest = resolveOrUndefined(fromHere, 'bun/package.json');
  if (bunManifest) {
    const binary = join(dirname(bunManifest), 'bin', 'bun.exe');
    if (isBinary(binary)) return binary;
  }

  // The package of the platform is a dependency of `bun`: with a strict package manager only `bun` can resolve it.
  const roads = bunManifest ? [createRequire(bunManifest), fromHere] : [fromHere];
  for (const name of platformPackages(process.platform, process.arch, isMusl())) {
    for (const road of roads) {
      const manifest = resolveOrUndefined(road, `${name}/package.json`);
      if (!manifest) continue;
      const binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'bun.exe' : 'bun');
      if (isBinary(binary)) return binary;
    }
  }
  return undefined;
}

/** Lists the packages that may hold Bun for a platform, the best first. */
function platformPackages(platform, arch, musl) {
  const system = { darwin: 'darwin', linux: 'linux', android: 'linux', freebsd: 'freebsd', win32: 'windows' }[platform];
  const processor = { arm64: 'aarch64', x64: 'x64' }[arch];
  if (!system || !processor) return [];

  const name = `@oven/bun-${system}-${processor}`;
  if (platform === 'android') return [`${name}-android`];
  const libraries = platform === 'linux' && musl ? [`${name}-musl`, name] : [name];
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

function isMusl() {
  if (process.platform !== 'linux') return false;
  // Otherwise the report looks up the host names of every open socket.
  process.report.excludeNetwork = true;
  return !process.report.getReport().header.glibcVersionRuntime;
}

module.exports = { findBun, platformPackages, programFlags };
