/** Does the work of `gdn store init` and `gdn store status`. */
import type { Result } from '../gdn-command.ts';
import { personName } from '../question/person-name.ts';
import { renderTable } from '../render-table.ts';
import type { Terminal } from '../terminal.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { readClusterToken } from './cluster-token.ts';
import type { OpenedStore } from './open-store.ts';

/** **Errors** — `E_STORE_SCHEMA` for tables of another version; `E_CLUSTER_TOKEN`; those of the store. */
export async function initStore(cluster: ClusterAccess): Promise<Result> {
  const given = readClusterToken(process.env);
  const store = await cluster.openAny();
  const isNew = (await store.version()) === 0;
  // Before the tables, so that a wrong token leaves nothing behind.
  if (isNew) store.tokens.checkNew(tokenName(), given);
  await store.makeTables();
  const version = await store.version();
  const made = await makeFirstToken(store, given);
  const done = isNew ? 'is ready' : 'has its tables already';
  return {
    json: {
      version,
      isNew,
      ...(made && { tokenName: made.name, ...(made.token && { token: made.token }) }),
    },
    text: `The store ${cluster.shown} ${done} (version ${version}).\n${describeToken(made, !isNew)}`,
  };
}

/** Makes a token, unless one that may operate exists. In the result, `token` is absent if the caller knows it. */
async function makeFirstToken(store: OpenedStore, given: string | undefined) {
  const tokens = await store.tokens.list();
  if (tokens.some(({ scope }) => scope === 'operate')) return undefined;
  const isTaken = (wanted: string) => tokens.some(({ name }) => name === wanted);
  let name = tokenName();
  for (let number = 2; isTaken(name); number += 1) name = `${tokenName()}-${number}`;
  const token = await store.tokens.add(name, 'operate', given);
  return { name, ...(given === undefined ? { token } : {}) };
}

function tokenName(): string {
  return personName().replaceAll(/[^A-Za-z0-9._@-]/g, '-');
}

/** `isAgain`: the tables existed. */
function describeToken(made: Awaited<ReturnType<typeof makeFirstToken>>, isAgain: boolean): string {
  if (made === undefined) return 'It has a token already; `gdn store token add NAME` makes another one.\n';
  const { name, token } = made;
  const first = isAgain ? 'It had no token that may operate, so one was made.\n' : '';
  if (token === undefined)
    return `${first}The token of GOONDAN_CLUSTER_TOKEN may operate its swarms, under the name "${name}".\n`;
  return (
    `${first}This token may operate its swarms, under the name "${name}". It is shown once:\n\n  ${token}\n\n` +
    'Keep it in a file with mode 600, and set GOONDAN_CLUSTER_TOKEN to @FILE wherever you start a node or type a command.\n'
  );
}

/** **Errors** — those of the store. */
export async function showStoreStatus(cluster: ClusterAccess, terminal: Terminal): Promise<Result> {
  const { server, schema, databaseBytes, swarms, warnings, ...more } = await (await cluster.openAny()).status();
  const listed = swarms.map(({ swarm, instances, pendingInputs, nodes }) => ({
    ...{ swarm, instances, pendingInputs },
    nodes: nodes.map(({ name }) => name).toSorted(),
  }));
  // Fields of this JSON may be added, but are never renamed.
  const json = { store: cluster.shown, server, schema, bytes: databaseBytes, warnings, swarms: listed, ...more };
  const tables = schema === 0 ? 'no tables yet' : `tables of version ${schema}`;
  const head = `${cluster.shown}: PostgreSQL ${server}, ${tables}, ${databaseBytes} bytes\n`;
  const rows = listed.map(({ swarm, nodes, instances, pendingInputs }) => [
    ...[swarm, String(instances), String(pendingInputs)],
    nodes.join(', ') || 'none',
  ]);
  const table =
    rows.length === 0 ? '' : renderTable(['swarm', 'conversations', 'waiting inputs', 'nodes'], rows, terminal);
  return { json, text: `${head}${table}${warnings.map((warning) => `warn: ${terminal.suggest(warning)}\n`).join('')}` };
}
