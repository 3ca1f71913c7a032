import { V010_PACKAGE } from '../../v010-package.ts';
import { type Finding, warningIn } from '../bundle-problem.ts';
import { findBundlePackage } from './find-package.ts';

/**
 * Looks for the package that an extension with `compat` needs. A missing package is a warning, because the program that
 * starts the swarm may have it.
 */
export function inspectCompat(
  loaded: Parameters<typeof warningIn>[0] & { readonly folder: string },
  { compat }: { readonly compat?: 'v010' | undefined },
  find: typeof findBundlePackage = findBundlePackage,
): Finding[] {
  if (compat === undefined || find(loaded.folder, V010_PACKAGE) !== undefined) return [];
  const message = `compat: ${compat} needs ${V010_PACKAGE}, which is not installed.`;
  const suggestion = `Run \`npm install ${V010_PACKAGE}\` in the folder of the program that starts the swarm.`;
  return [warningIn(loaded, ['spec', 'compat'], 'E_EXT_COMPAT', message, suggestion)];
}
