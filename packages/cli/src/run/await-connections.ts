/**
 * Waits until the connections of a new swarm listen, so that they can be used once the swarm is announced. Returns the
 * connections that do not listen yet, with the reason; the swarm keeps trying to start them.
 */
import type { Swarm } from '@goondan/runtime';
import type { ConnectionStatus } from '@goondan/runtime/control';

/** The maximum time to wait for all connections together. */
const MOST_MS = 30_000;
const EVERY_MS = 20;

export async function awaitConnections(
  control: Pick<Swarm, 'status'>,
  signal: AbortSignal,
): Promise<readonly ConnectionStatus[]> {
  const deadline = Date.now() + MOST_MS;
  for (;;) {
    const { connections } = await control.status();
    const isOver = signal.aborted || Date.now() > deadline;
    // A failed connection is restarted at once, so its status is `starting` again, but it keeps its `problem`.
    if (isOver || connections.every(({ status, problem }) => status !== 'starting' || problem !== undefined)) {
      return connections.filter(({ status }) => status !== 'listening');
    }
    await Bun.sleep(EVERY_MS);
  }
}
