/**
 * Waits until the connections of a new swarm listen, so that they can be used once the swarm is announced. Returns
 * those that do not listen, with the reason; the swarm keeps trying.
 */
import type { Swarm } from '@goondan/runtime';
import type { ConnectionStatus } from '@goondan/runtime/control';

/** The longest wait for all connections together. A slower one is not waited for. */
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
    // A failed connection is started again at once, but keeps its problem.
    if (isOver || connections.every(({ status, problem }) => status !== 'starting' || problem !== undefined)) {
      return connections.filter(({ status }) => status !== 'listening');
    }
    await Bun.sleep(EVERY_MS);
  }
}
