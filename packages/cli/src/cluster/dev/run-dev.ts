/**
 * `gdn cluster dev`: a database and several nodes on this machine.
 *
 * 1. The address and the token are in private files of a temporary folder. No command line has them.
 * 2. At the end, however it comes, the nodes end first, then the server, and then the files are removed.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { GoondanError } from '@goondan/types';
import type { CommonOptions } from '../../common-options.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { harmlessText } from '../../harmless-text.ts';
import { printJson } from '../../print-json.ts';
import { quoteForShell } from '../../quote-for-shell.ts';
import { prepareRun, resolveTrustedPlan, type PreparedRun } from '../../run/prepare-run.ts';
import { onStopSignal, type StopSignal } from '../../stop-signals.ts';
import { makeTemporaryFolder } from '../../temporary-folder.ts';
import type { Terminal } from '../../terminal.ts';
import { typedGdn } from '../../typed-gdn.ts';
import { type ClusterAccess, readClusterAccess } from '../cluster-access.ts';
import { openDevDatabase } from './dev-database.ts';
import { killOne } from './kill-one.ts';
import { type NodeProcess, startNode } from './node-process.ts';

export interface DevRequest extends CommonOptions {
  readonly folder: string;
  readonly swarm?: string;
  readonly nodes: number;
  readonly killOne: boolean;
  readonly input?: string;
  readonly database?: string;
  readonly lease?: number;
  readonly trust: boolean;
}

/** **Errors** — those of `prepareRun`, `resolveTrustedPlan`, `openDevDatabase` and `startNode`. */
export async function runDev(request: DevRequest, terminal: Terminal): Promise<ExitCode> {
  const asked = new AbortController();
  const stopped = Promise.withResolvers<StopSignal>();
  const forget = onStopSignal((signal) => {
    asked.abort();
    stopped.resolve(signal);
  });
  await using endings = new AsyncDisposableStack();
  endings.defer(forget);
  const run = await prepareRun({ ...request, workdir: process.cwd() }, terminal);
  await resolveTrustedPlan(run, terminal, asked.signal);
  const database = await openDevDatabase(request.database);
  endings.defer(() => database.remove());
  const cluster = await openCluster(database.address, endings);
  await refuseNodes(cluster, run);
  const nodes = await startNodes(request, run, cluster, terminal, asked.signal);
  let isEnding = false;
  endings.defer(async () => {
    isEnding = true;
    await Promise.all(nodes.map((node) => node.stop()));
  });
  for (const { name, ended } of nodes) {
    void ended.then(() => isEnding || request.killOne || terminal.printError(`${name} has ended.\n`));
  }
  tellReady(request, run, cluster, nodes, terminal);
  if (request.killOne) {
    const work = killOne({ ...cluster, run, nodes, input: request.input }, terminal, asked.signal);
    return await Promise.race([work, stopped.promise.then(() => exitCodes.interrupted)]);
  }
  const signal = await stopped.promise;
  terminal.printError('The nodes end.\n');
  return signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.ok;
}

export interface DevCluster {
  readonly access: ClusterAccess;
  /** The values of GOONDAN_STORE and GOONDAN_CLUSTER_TOKEN: `@` and the path of a private file. */
  readonly store: string;
  readonly token: string;
  readonly folder: string;
}

async function openCluster(address: string, endings: AsyncDisposableStack): Promise<DevCluster> {
  const { folder, removeFolder } = await makeTemporaryFolder('gdn-cluster-');
  endings.defer(removeFolder);
  chmodSync(folder, 0o700);
  const [store, token] = [join(folder, 'store'), join(folder, 'token')];
  writeFileSync(store, `${address}\n`, { mode: 0o600 });
  writeFileSync(token, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  mkdirSync(join(folder, 'state'), { mode: 0o700 });
  const access = readClusterAccess(`@${store}`, { GOONDAN_CLUSTER_TOKEN: `@${token}` }, 'gdn cluster dev');
  if (access === undefined) throw new Error('A file is an address.');
  endings.defer(() => access.close());
  const opened = await access.openAny();
  await opened.makeTables();
  // A database of the user may have the token of another `gdn cluster dev`.
  const name = `cluster-dev-${randomBytes(6).toString('hex')}`;
  await opened.tokens.add(name, 'operate', access.token());
  endings.defer(async () => void (await opened.tokens.remove(name, true).catch(() => false)));
  return { access, store: `@${store}`, token: `@${token}`, folder };
}

/** **Errors** — `E_SWARM_RUNNING` when nodes of the swarm live in a database of the user. */
async function refuseNodes({ access }: DevCluster, { key, swarmName }: PreparedRun): Promise<void> {
  const nodes = await (await access.open()).nodes(key);
  if (nodes.length === 0) return;
  const names = nodes.map(({ name }) => name).toSorted();
  const message = `Nodes of swarm "${swarmName}" already run with this database: ${names.join(', ')}.`;
  const suggestion = 'Stop them, or name another database with `--database`.';
  throw new GoondanError('E_SWARM_RUNNING', message, { suggestion });
}

async function startNodes(
  { nodes: count, lease, swarm }: DevRequest,
  { bundle }: PreparedRun,
  { store, token, folder }: DevCluster,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<readonly NodeProcess[]> {
  const options = [
    ...(lease === undefined ? [] : ['--lease', String(lease)]),
    ...(swarm === undefined ? [] : ['--swarm', swarm]),
  ];
  const env = { ...process.env, GOONDAN_CLUSTER_TOKEN: token, GOONDAN_STATE_ROOT: join(folder, 'state') };
  const names = Array.from({ length: count }, (_, index) => `node-${index + 1}`);
  const start = (name: string) =>
    startNode(
      {
        name,
        args: ['run', bundle.folder, '--trust', '--json', '--store', store, '--node', name, ...options],
        env,
        tell: (line) => terminal.printError(`${name}: ${line}\n`),
      },
      signal,
    );
  // The first node deploys the bundle. The others find the bundle deployed.
  const started = [await start(names[0] ?? 'node-1')];
  const others = await Promise.allSettled(names.slice(1).map((name) => start(name)));
  started.push(...others.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
  const failed = others.find((each) => each.status === 'rejected');
  if (failed === undefined) return started;
  await Promise.all(started.map((node) => node.stop()));
  throw failed.reason;
}

function tellReady(
  { json, killOne: isDemonstration }: DevRequest,
  { swarmName, bundle }: PreparedRun,
  { store, token }: DevCluster,
  nodes: readonly NodeProcess[],
  terminal: Terminal,
): void {
  // Fields of this JSON may be added, but are never renamed.
  if (json === true) {
    printJson({ swarm: swarmName, store, token, nodes: nodes.map(({ name, pid }) => ({ name, pid })) }, terminal);
    return;
  }
  terminal.print(
    `${nodes.length} nodes run swarm "${harmlessText(swarmName)}": ${nodes.map(({ name }) => name).join(', ')}.\n`,
  );
  if (isDemonstration) return;
  const folder = quoteForShell(resolve(bundle.folder));
  terminal.print(
    'In another terminal, type:\n\n' +
      `  export GOONDAN_STORE=${quoteForShell(store)} GOONDAN_CLUSTER_TOKEN=${quoteForShell(token)}\n` +
      `  ${typedGdn()} send --bundle ${folder} --input "Good morning" --wait\n` +
      `  ${typedGdn()} nodes --bundle ${folder}\n\n` +
      'Ctrl-C ends the nodes and the database.\n',
  );
}
