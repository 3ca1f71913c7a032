/**
 * Finds `@goondan/v010`, which runs extensions for v0.10. It comes with `@goondan/cli`, and other programs install it. The
 * copy beside the program is preferred to that of a bundle.
 */
import { GoondanError } from '@goondan/types';
import { V010_PACKAGE } from '../config/v010-package.ts';

/** Returns the path of the package's module. `folder`: the folder of a bundle. Returns `undefined` if there is none. */
export function findV010(folder: string | undefined): string | undefined {
  const program = Bun.main.replace(/[\\/][^\\/]*$/, '');
  const found = [program, folder].find((from) => from !== undefined && isInstalled(from));
  return found === undefined ? undefined : Bun.resolveSync(V010_PACKAGE, found);
}

/** Looks before Bun resolves the name, because Bun would look for a missing package in the registry. */
function isInstalled(from: string): boolean {
  const { existsSync } = process.getBuiltinModule('node:fs');
  const { dirname, join } = process.getBuiltinModule('node:path');
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'node_modules', V010_PACKAGE, 'package.json'))) return true;
    if (dirname(folder) === folder) return false;
  }
}

/** `subject`: the part of the bundle that needs the package. */
export function notInstalled(subject: string): GoondanError {
  return new GoondanError('E_EXT_COMPAT', `${subject}, but ${V010_PACKAGE} is not installed.`, {
    suggestion: `Run \`npm install ${V010_PACKAGE}\` in the folder of the program that starts the swarm.`,
  });
}
