/** Makes the connections of a swarm, with their way into it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { toInstanceAddress } from '../../control/instance-address.ts';
import type { Swarm } from '../../control/swarm.ts';
import { MOST_FILES_FULL } from '../../files/check-content.ts';
import type { UploadStore } from '../../ipc/connector-files.ts';
import type { Spawn } from '../../ipc/spawn.ts';
import { defined } from '../../json/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import { connectorRunner } from '../../ports/runner-path.ts';
import type { ConnectionLeases } from '../../store/cluster-store.ts';
import { newTraceId } from '../../trace/span-id.ts';
import { connectionsFolder, workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import { ConnectionQuestions } from '../connections/connection-questions.ts';
import { Connections } from '../connections/connections.ts';
import { type CurrentPlan, inputBytesOf } from '../plan/current-plan.ts';
import { askAgent } from '../swarm/ask-agent.ts';
import type { SwarmAgents } from '../swarm/swarm-agents.ts';

export interface ConnectionPlaces {
  readonly swarm: SwarmAgents;
  readonly spawn: Spawn;
  readonly runFolder: string;
  readonly leases: ConnectionLeases | undefined;
  /** Stores files of events. */
  readonly uploads: UploadStore;
  /** Asks an instance of another node. */
  readonly askElsewhere: Swarm['ask'];
}

export function openConnections(
  {
    currentPlan,
    clock,
    stateRoot,
    workspaceId,
  }: {
    readonly currentPlan: CurrentPlan;
    readonly clock: Clock;
    readonly stateRoot: string;
    readonly workspaceId: string;
  },
  { swarm, spawn, runFolder, leases, uploads, askElsewhere }: ConnectionPlaces,
): Connections {
  const folder = workspaceFolder(stateRoot, workspaceId);
  /** Tells a connection that it is lost, if the store refuses its events for this reason. */
  const underLease = async <Value>(connection: string, accept: () => Promise<Value>): Promise<Value> => {
    try {
      return await accept();
    } catch (error) {
      if (GoondanError.is(error) && error.code === 'E_FENCED' && !isElsewhere(error)) connections.lost(connection);
      throw error;
    }
  };
  const questions = new ConnectionQuestions(swarm.questions);
  swarm.listen(questions);
  const connections = new Connections(currentPlan.value.plan.connections ?? [], {
    spawn,
    clock,
    ...(leases === undefined ? {} : { leases }),
    runner: connectorRunner,
    frameFolderFor: () => join(runFolder, crypto.randomUUID()),
    makeWorkFolder: (connection) => {
      const path = join(connectionsFolder(folder), connection);
      mkdirSync(path, { recursive: true, mode: 0o700 });
      return path;
    },
    ingress: {
      entryAgent: () => currentPlan.value.entryAgent,
      newTraceId,
      uploads,
      maxFileBytes: () => inputBytesOf(currentPlan.value) / MOST_FILES_FULL,
      accept: (to, event, connection) =>
        underLease(
          connection,
          async () => void (await swarm.accept(to, event, false, connections.fenceOf(connection))),
        ),
      ask: (to, event, options, connection) =>
        underLease(connection, async () => {
          try {
            return await askAgent(swarm, to, event, { ...options, under: connections.fenceOf(connection) });
          } catch (error) {
            if (!isElsewhere(error)) throw error;
            // The event is accepted. The owner of the instance finds it by its id.
            const { cancel: signal, left, onNotice } = options;
            const { id, input, traceId } = event;
            return askElsewhere(
              { ...toInstanceAddress(to), id, traceId, ...defined({ input }) },
              defined({ signal, left, onNotice }),
            );
          }
        }),
    },
    questions: (plan) => questions.doorOf(plan),
    report: (line) => swarm.log(line),
    onOutput: (connection, output) => swarm.printed({ connection }, output),
    policy: () => {
      const { supervision, heartbeat } = currentPlan.value.settings;
      return { ...supervision, heartbeat };
    },
  });
  return connections;
}

/** Returns true if the instance belongs to another node. */
function isElsewhere(error: unknown): boolean {
  return GoondanError.is(error) && error.code === 'E_FENCED' && error.retryable;
}
