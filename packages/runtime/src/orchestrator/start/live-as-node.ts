/**
 * The life of a node among others: it tells its load, gives up its instances when it is asked to, and ends its processes
 * at once when it loses them.
 */
import type { GoondanError } from '@goondan/types';
import type { ClusterPlacement } from '../../store/cluster-store.ts';
import type { Connections } from '../connections/connections.ts';
import type { SwarmAgents } from '../swarm/swarm-agents.ts';

export interface NodeParts {
  readonly placement: ClusterPlacement;
  readonly swarm: SwarmAgents;
  readonly connections: Pick<Connections, 'drain'>;
  /** The time in which a connection must end. */
  readonly graceMs: () => number;
  /** Ends the orchestrator, because the node lost its place. */
  readonly fail: (error: GoondanError) => void;
}

export function liveAsNode({ placement, swarm, connections, graceMs, fail }: NodeParts): void {
  placement.setLoad(() => swarm.instances.processes + swarm.instances.waiting);
  placement.onLost((error, instance) => {
    if (instance !== undefined) {
      swarm.report('warn', 'instance.lost', `${error.message} Its process is killed.`, instance);
      return swarm.moves.moved(instance);
    }
    swarm.moves.lostAll();
    void connections.drain(0);
    swarm.report('error', 'node.lost', `${error.message} All processes of node "${placement.node}" are killed.`);
    fail(error);
  });
  placement.onFailover({
    gone: (node) =>
      swarm.report('warn', 'node.gone', `Node "${node}" is gone: it was stopped, or its lease has ended.`),
    takenOver: (instance, from) =>
      swarm.report(
        'warn',
        'instance.taken_over',
        `Node "${placement.node}" goes on with a turn of node "${from}", whose lease has ended.`,
        instance,
      ),
  });
  placement.onDrain(() => {
    swarm.report('info', 'node.drains', `Node "${placement.node}" gives its conversations and connections to others.`);
    void Promise.all([swarm.moves.giveUpAll(), connections.drain(graceMs())]).then(() =>
      swarm.report('info', 'node.drained', `Node "${placement.node}" has given up everything. It can be stopped.`),
    );
  });
}
