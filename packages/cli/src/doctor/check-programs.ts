/** Checks the programs that `gdn` needs: Bun, which runs `gdn`, and programs of the system. */
import { readFileSync } from 'node:fs';
import { type Check, missing, ok, warning } from './check.ts';
import { probe } from './probe.ts';

/** The oldest Node version that the launcher is tested with. */
const OLDEST_NODE = 20;

export async function checkNode(): Promise<Check> {
  const node = await probe('node', '--version');
  const get = `Install Node ${OLDEST_NODE} or newer; it starts gdn.`;
  if (!node.works) return missing('Node', node.why, get);
  const major = Number(/^v(\d+)\./.exec(node.said)?.[1] ?? Number.NaN);
  return major >= OLDEST_NODE ? ok('Node', node.said) : missing('Node', `${node.said} is too old`, get);
}

/** Reports the version of Bun. Bun exists, because it runs this code. */
export function checkBun(): Check {
  // The runtime depends on Bun for every system, in one version, so that Node programs have it too.
  const file = Bun.resolveSync('@goondan/runtime/package.json', import.meta.dir);
  const manifest: { optionalDependencies: Record<string, string> } = JSON.parse(readFileSync(file, 'utf8'));
  const [wanted] = Object.values(manifest.optionalDependencies);
  if (Bun.version === wanted) return ok('Bun', Bun.version);
  return warning('Bun', `${Bun.version}; gdn is tested with ${wanted}`, 'Run `npm ci`, or install @goondan/cli again.');
}

export async function checkNpm(): Promise<Check> {
  const npm = await probe('npm', '--version');
  if (npm.works) return ok('npm', npm.said);
  return warning('npm', npm.why, 'Install npm to add packages to a bundle. Running a bundle does not need npm.');
}

export async function checkGit(): Promise<Check> {
  const git = await probe('git', '--version');
  if (git.works) return ok('git', git.said.replace(/^git version /, ''));
  return warning('git', git.why, 'Install git to keep the history of a bundle. Running a bundle does not need git.');
}

/**
 * Checks that bubblewrap works. Being installed is not enough, because many systems do not allow it to create a
 * namespace.
 */
export async function checkSandbox(): Promise<Check> {
  const name = 'bubblewrap';
  const version = await probe('bwrap', '--version');
  const without = 'without it, tools that run commands run them unsandboxed';
  if (!version.works) return warning(name, `${version.why}; ${without}`, 'Install bubblewrap (`bwrap`), on Linux.');
  const room = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-all', '--die-with-parent'];
  const run = await probe('bwrap', ...room, 'true');
  if (run.works) return ok(name, `${version.said.replace(/^bubblewrap /, '')}, and it works`);
  const suggestion = 'Allow unprivileged user namespaces on this system, or in its container.';
  return warning(name, `${version.said} is installed and does not work (${run.why}); ${without}`, suggestion);
}
