/**
 * Runs a program in a world of its own: own processes, own network, own folder in memory. The world ends with its last
 * process, and with the process that started it, however that one ends. So nothing is left: no process, no network
 * namespace, no folder.
 */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { requireRoot } from './debian-packages.ts';
import { run } from './run-command.ts';

/** The folder of the world, in memory. It hides the folder of the same name outside. */
export const WORLD_FOLDER = '/tmp';

const MARK = 'GOONDAN_PROOF_WORLD';

export function isInWorld(): boolean {
  return process.env[MARK] === '1';
}

/** Runs this program again with the same arguments, in a world of its own. Returns its exit code. */
export function enterWorld(): Promise<number> {
  requireRoot();
  const namespaces = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', '--net', '--mount'];
  // The first process of a world must wait for processes that lost their parent. A shell does; Bun does not.
  const first = ['sh', '-c', '"$@" & wait $!', 'sh'];
  const args = ['--pdeathsig', 'KILL', ...namespaces, ...first, ...process.argv];
  const world = spawn('setpriv', args, { stdio: 'inherit', env: { ...process.env, [MARK]: '1' } });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      world.kill('SIGKILL');
      process.exit(130);
    });
  }
  return new Promise((resolve) => void world.once('exit', (code) => resolve(code ?? 1)));
}

/** Prepares the inside of the world: its folder, the place of its network namespaces, and its loopback. */
export function furnishWorld(): void {
  mkdirSync('/run/netns', { recursive: true });
  run('mount', '-t', 'tmpfs', 'none', '/run/netns');
  run('mount', '-t', 'tmpfs', '-o', 'mode=1777', 'none', WORLD_FOLDER);
  run('ip', 'link', 'set', 'lo', 'up');
}
