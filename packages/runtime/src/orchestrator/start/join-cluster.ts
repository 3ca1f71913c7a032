/** Joins a swarm with several nodes: opens the control port for other nodes, and takes a place among them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../config/version.ts';
import { messageOf } from '../../ipc/check/frame-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ClusterSource, ClusterStore } from '../../store/cluster-store.ts';
import type { KeptOut } from '../../workspace/packs/pack-bundle.ts';
import type { TurnNode } from '../../workspace/records/frame.ts';
import { StoreServer, type StoreServerDeps } from '../child/serve-store.ts';
import type { CertificateFiles } from '../control/node-certificate.ts';
import { type ControlPort, openControlPort, type ServedNode } from '../control/open-control-port.ts';
import { noteStart } from './node-starts.ts';
import type { StartLog } from './start-log.ts';

/** The store that the nodes of a swarm share, and this node. */
export interface ClusterOptions {
  readonly source: ClusterSource;
  /** The name of this node. */
  readonly node: string;
  /** The id of the local workspace of this node; one for its swarm and its name when absent. */
  readonly workspaceId?: string;
  /** The address of the control port, as `host:port`; a free port of the loopback interface when absent. */
  readonly listen?: string;
  /** The certificate of the control port; one is made when absent. */
  readonly certificate?: CertificateFiles;
  /** The token with which this node asks the others. */
  readonly token: string;
  /** The files and texts that are never deployed, besides the token. */
  readonly keptOut?: KeptOut;
}

export interface JoinedCluster {
  readonly store: ClusterStore;
  readonly port: ControlPort;
  /** The token with which this node asks the others. */
  readonly token: string;
  /** Serves the conversations to agent processes, which have no way to the store themselves. */
  readonly served: StoreServer;
  /** Begins to answer other nodes and clients. The caller closes the port from now on. */
  serve(served: ServedNode): void;
}

export interface JoiningNode {
  readonly cluster: ClusterOptions;
  /** The local folder of the node. */
  readonly folder: string;
  readonly clock: Clock;
  readonly endings: AsyncDisposableStack;
  readonly log: StartLog;
  /** See `HostOptions`. */
  readonly fileBytes: () => number;
  /** See `StoreServerDeps`. */
  readonly maxFileBytes: (agentName: string) => number;
}

/** **Errors** — those of `openControlPort` and `ClusterSource.join`. */
export async function joinCluster(joining: JoiningNode): Promise<JoinedCluster> {
  const { cluster, folder, clock, endings, log, fileBytes, maxFileBytes } = joining;
  const { source, node, listen, certificate: files, token } = cluster;
  const port = openControlPort({
    node,
    clock,
    fileBytes,
    ...(listen === undefined ? {} : { listen }),
    ...(files === undefined ? {} : { files }),
    warn: (message) => log.report('warn', 'control.token', message),
    report: (error, what) => log.report('error', 'control.failed', `${what}: ${String(error)}`),
  });
  let isServed = false;
  endings.defer(async () => {
    if (!isServed) await port.close();
  });
  const { address, certificate } = port;
  const { start, ended, joined } = noteStart(folder);
  const facts = { name: node, start, ended, version: VERSION, control: { address, certificate }, token };
  const store = await source.join(facts, (problem) => log.warnOfStore(problem));
  joined();
  endings.defer(async () => {
    // A node that lost its place cannot leave it, and its lines may have no way to the store.
    for (const end of [() => store.placement.leave(), () => store.logSink.close(), () => store.close()]) {
      await end().catch((error: unknown) => log.report('warn', 'node.left', messageOf(error)));
    }
  });
  log.addSink(store.logSink);
  const serve = (served: ServedNode) => {
    isServed = true;
    port.serve(served);
  };
  const served = serveStore(store, { name: node, machine: readMachineId(folder) }, log, maxFileBytes);
  return { store, port, token, served, serve };
}

function serveStore(
  store: ClusterStore,
  node: TurnNode,
  log: StartLog,
  maxFileBytes: StoreServerDeps['maxFileBytes'],
): StoreServer {
  const report: StoreServerDeps['report'] = ({ agentName, instanceKey }, problem, error) => {
    const message = `${problem}, for conversation ${JSON.stringify(instanceKey)} of agent "${agentName}": ${messageOf(error)}`;
    log.report('warn', 'store.failed', message);
  };
  return new StoreServer({ store, node, maxFileBytes, report });
}

/** Returns the id of the node's local folder. It is made at the first start. */
function readMachineId(folder: string): string {
  const path = join(folder, 'machine-id');
  try {
    const id = readFileSync(path, 'utf8').trim();
    if (/^[0-9a-f-]{36}$/.test(id)) return id;
  } catch {
    // The node starts here for the first time.
  }
  const id = crypto.randomUUID();
  writeFileSync(path, `${id}\n`, { mode: 0o600 });
  return id;
}
