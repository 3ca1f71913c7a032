/**
 * Until the connections of a swarm that has just started listen: whoever is told that it runs may talk to it then.
 * Returns those that do not, with why; the swarm goes on trying.
 */
import type { Swarm } from '@goondan/runtime';
import type { ConnectionStatus } from '@goondan/runtime/control';

/** For all of them together. One that is slower is not waited for. */
const MOST_MS = 10_000;
const EVERY_MS = 20;

export async function awaitConnections(
  control: Pick<Swarm, 'status'>,
  signal: AbortSignal,
): Promise<readonly ConnectionStatus[]> {
  const deadline = Date.now() + MOST_MS;
  for (;;) {
    const { connections } = await control.status();
    const isOver = signal.aborted || Date.now() > deadline;
    // One that failed is started again at once; it has a problem all the same.
    if (isOver || connections.every(({ status, problem }) => status !== 'starting' || problem !== undefined)) {
      return connections.filter(({ status }) => status !== 'listening');
    }
    await Bun.sleep(EVERY_MS);
  }
}
