import { join } from 'node:path';
import type { Bundle, BundleProblem } from '@goondan/runtime/bundle';
import { closestName, findPackageUses } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { readBundle } from '../bundle/open-bundle.ts';
import { printProblems } from '../bundle/print-problems.ts';
import type { Terminal } from '../terminal.ts';
import { changeInstall } from './change-install.ts';
import type { NpmRun } from './run-npm.ts';
import { readDependencies } from './package-json.ts';

/**
 * Uninstalls a package with npm, unless the bundle uses it. `shownAs` is the folder of the bundle as the person typed
 * it, for messages.
 *
 * **Errors** — `E_PACKAGE_MISSING` when it is not installed, `E_PACKAGE_USED`, `E_BUNDLE_INVALID` when errors in the
 * bundle hide whether it is used, `E_NPM_FAILED`, `E_PACKAGE_FILE`, `E_CANCELLED`.
 */
export async function removePackage(name: string, shownAs: string, run: NpmRun): Promise<void> {
  const { folder, terminal } = run;
  refuseAbsent(name, [...readDependencies(folder).keys()]);
  const before = await readBundle(folder);
  refuseUsed(before, name, shownAs, terminal);
  refuseUnread(before, name);
  await changeInstall(run, async (npm) => {
    if (terminal.showsProgress) terminal.printError(`Removing ${name} with npm …\n`);
    await npm('uninstall', '--no-fund', '--ignore-scripts', '--', name);
    refuseMissed(before, await readBundle(folder), name, shownAs, terminal);
  });
}

function refuseAbsent(name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const meant = closestName(name, known);
  const suggestion =
    meant === undefined ? 'List the installed packages with `gdn package list`.' : `Did you mean "${meant}"?`;
  throw new GoondanError('E_PACKAGE_MISSING', `The package.json of the bundle does not list "${name}".`, {
    suggestion,
  });
}

function refuseUsed(bundle: Bundle, name: string, shownAs: string, terminal: Terminal): void {
  const uses = findPackageUses(bundle, name);
  if (uses.length === 0) return;
  for (const { file, line, column, resource } of uses) {
    terminal.printError(`${join(shownAs, file)}:${line}:${column} ${resource} refers to ${name}\n`);
  }
  throw stillUsed(name);
}

/** Refuses when a document could not be read, because it may refer to the package. */
function refuseUnread({ scope, folder }: Bundle, name: string): void {
  if (!scope.isIncomplete && scope.byIdentity.size === scope.declared.size) return;
  const message = `The bundle in "${folder}" has errors, so it is unknown whether it refers to "${name}".`;
  throw new GoondanError('E_BUNDLE_INVALID', message, {
    suggestion: 'Correct the errors that `gdn validate` lists first.',
  });
}

/** Refuses when a module of the bundle imports the package. Only a check after the uninstall shows this. */
function refuseMissed(before: Bundle, after: Bundle, name: string, shownAs: string, terminal: Terminal): void {
  const known = new Set(before.errors.map(keyOf));
  const errors = after.errors.filter((problem) => !known.has(keyOf(problem)));
  if (errors.length === 0) return;
  printProblems({ ...after, errors, warnings: [] }, shownAs, {
    print: terminal.printError,
    colors: terminal.errorColors,
  });
  throw stillUsed(name);
}

function keyOf({ file, line, column, code, message }: BundleProblem): string {
  return JSON.stringify([file, line, column, code, message]);
}

function stillUsed(name: string): GoondanError {
  return new GoondanError('E_PACKAGE_USED', `The bundle needs "${name}", so it was not removed.`);
}
