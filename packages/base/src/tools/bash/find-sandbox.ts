/**
 * Checks whether bubblewrap works. Being installed is not enough, because many systems and containers do not allow it
 * to create a namespace.
 */
import { sandboxArguments } from './sandbox-arguments.ts';

export type Sandbox =
  { readonly works: true; readonly program: string } | { readonly works: false; readonly why: string };

const PROBE_MS = 5_000;

/**
 * Tests bubblewrap with the arguments of a real command. `network` matters, because a system may forbid only the
 * creation of a network namespace.
 */
export async function findSandbox(network: boolean, path = process.env.PATH ?? ''): Promise<Sandbox> {
  const program = Bun.which('bwrap', { PATH: path });
  if (program === null) return { works: false, why: 'bubblewrap (bwrap) is not installed' };
  const room = { workdir: '/', cwd: '/', home: '/root', network, readable: [], writable: [] };
  const { exitCode, said } = await probe([program, ...sandboxArguments(room), 'true'], path);
  if (exitCode === 0) return { works: true, program };
  return { works: false, why: `bubblewrap is installed and does not work here (${said || `exit code ${exitCode}`})` };
}

async function probe(command: string[], path: string): Promise<{ exitCode: number | null; said: string }> {
  try {
    const child = Bun.spawn(command, {
      env: { PATH: path },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
      timeout: PROBE_MS,
      killSignal: 'SIGKILL',
    });
    const said = (await child.stderr.text()).trim().slice(0, 300);
    await child.exited;
    return { exitCode: child.exitCode, said };
  } catch (error) {
    return { exitCode: null, said: error instanceof Error ? error.message : String(error) };
  }
}
