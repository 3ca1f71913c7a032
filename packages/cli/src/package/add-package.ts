import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { countProblems, printProblems } from '../bundle/print-problems.ts';
import type { Terminal } from '../terminal.ts';
import { changeInstall } from './change-install.ts';
import type { NpmRun } from './run-npm.ts';
import { readDependencies } from './package-json.ts';
import { installedName } from './package-spec.ts';
import { packagesWithScripts } from './packages-with-scripts.ts';
import { type InstalledPackage, readPackage } from './read-package.ts';

/**
 * Installs a package with npm and checks it. If the check finds a problem, the package is removed again. `spec` is the
 * package in npm's notation, with absolute paths. With `allowScripts`, scripts of packages may run during the install;
 * otherwise `heldBack` lists the installed packages whose scripts were not run.
 *
 * **Errors** — `E_NPM_FAILED`, `E_PACKAGE_FILE`, `E_PACKAGE_MISSING`, `E_PACKAGE_INVALID`, `E_CANCELLED`.
 */
export function addPackage(
  spec: string,
  allowScripts: boolean,
  run: NpmRun,
): Promise<InstalledPackage & { readonly heldBack: readonly string[] }> {
  const { folder, terminal } = run;
  const before = readDependencies(folder);
  const wantedBefore = packagesWithScripts(folder);
  return changeInstall(run, async (npm) => {
    const isFirst = makePackageJson(folder);
    if (terminal.showsProgress) terminal.printError(`Installing ${spec} with npm …\n`);
    const scripts = `--ignore-scripts=${!allowScripts}`;
    await npm('install', '--save', '--save-exact', '--no-fund', scripts, '--', spec);
    const name = installedName(spec, before, readDependencies(folder), folder);
    if (name === undefined) throw nameless(spec);
    const installed = await checkPackage(folder, name, terminal);
    if (isFirst) terminal.printError(`${packageJsonMade}\n`);
    const wanted = allowScripts ? [] : packagesWithScripts(folder).filter((each) => !wantedBefore.includes(each));
    return { ...installed, heldBack: wanted };
  });
}

const packageJsonMade = 'There was no package.json in the bundle, so one was created; it lists the installed packages.';

/**
 * Creates a `package.json` if there is none; otherwise npm would install into a project above the bundle. Returns true
 * if it created one.
 */
function makePackageJson(folder: string): boolean {
  const path = join(folder, 'package.json');
  if (existsSync(path)) return false;
  try {
    writeFileSync(path, `${JSON.stringify({ private: true }, undefined, 2)}\n`, { flag: 'wx' });
    return true;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new GoondanError('E_PACKAGE_FILE', `"${path}" cannot be written: ${reason}.`, { cause });
  }
}

async function checkPackage(folder: string, name: string, terminal: Terminal): Promise<InstalledPackage> {
  const read = await readPackage(folder, name);
  if (read === 'absent') throw new GoondanError('E_PACKAGE_MISSING', `npm did not install "${name}".`);
  if (read === 'foreign') {
    throw new GoondanError('E_PACKAGE_MISSING', `"${name}" is no package of Goondan: it has no goondan.yaml.`, {
      suggestion: 'It was removed again. To install modules that tools and extensions import, use `npm install`.',
    });
  }
  const { bundle, path } = read;
  if (bundle.valid) return read;
  printProblems(bundle, path, { print: terminal.printError, colors: terminal.errorColors });
  throw new GoondanError('E_PACKAGE_INVALID', `"${name}" has ${countProblems(bundle)}, and was taken out again.`);
}

function nameless(spec: string): GoondanError {
  return new GoondanError('E_PACKAGE_MISSING', `npm does not say under which name it installed "${spec}".`, {
    suggestion: 'See with `gdn package list` whether it is there.',
  });
}
