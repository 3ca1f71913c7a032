import type { StoreOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import type { Terminal } from '../terminal.ts';

const EXAMPLE_STORE = '--store postgres://gdn@db.example/gdn';

export function addStoreTokenCommand(store: GdnCommand): void {
  const group = store
    .command('token')
    .summary('add, list or remove tokens')
    .description(
      'A token lets a person, a program or a node reach the nodes of a store. The database has only the hash of a token. ' +
        'An answer to an approval request is recorded under the name of the token.',
    )
    .examples(`gdn store token add alice ${EXAMPLE_STORE}`);

  group
    .command('add')
    .argument('<name>', 'the name of the person, program or node')
    .summary('make a token and print it once')
    .description('Makes a token and prints it. It is not shown again.')
    .option('--read', 'a token that may read and watch, but change nothing')
    .commonOptions()
    .storeOption()
    .examples(`gdn store token add alice ${EXAMPLE_STORE}`, 'gdn store token add dashboard --read')
    .runs(add);

  group
    .command('list')
    .summary('list the names of the tokens')
    .description(
      'Lists the tokens by name, with their scope and the time when they were made. Their values are not known.',
    )
    .commonOptions()
    .storeOption()
    .examples(`gdn store token list ${EXAMPLE_STORE}`)
    .runs(list);

  group
    .command('remove')
    .argument('<name>', 'the name of the token')
    .summary('remove a token')
    .description(
      'Removes a token. New requests are refused within 5 seconds, open streams within 30. A token that living nodes ' +
        'use, and the last one that may operate, is not removed without --force.',
    )
    .option('--force', 'also a token that living nodes use, or the last one that may operate')
    .commonOptions()
    .storeOption()
    .examples(`gdn store token remove alice ${EXAMPLE_STORE}`)
    .runs(remove);
}

async function tokensOf(options: StoreOptions) {
  const { needCluster } = await import('../cluster/need-cluster.ts');
  return (await needCluster(options).open()).tokens;
}

/** Returns the tokens for a command that changes them. **Errors** — those of `operatingToken`. */
async function changeableTokens(options: StoreOptions, command: string) {
  const [{ needCluster }, { operatingToken }] = await Promise.all([
    import('../cluster/need-cluster.ts'),
    import('../cluster/operating-token.ts'),
  ]);
  await operatingToken(needCluster(options), command);
  return tokensOf(options);
}

async function add(
  options: StoreOptions & { readonly read?: boolean },
  _terminal: Terminal,
  name: string,
): Promise<Result> {
  const scope = options.read === true ? 'read' : 'operate';
  const token = await (await changeableTokens(options, '`gdn store token add`')).add(name, scope);
  return { json: { name, scope, token }, text: `${token}\n` };
}

async function list(options: StoreOptions, terminal: Terminal): Promise<Result> {
  const { renderTable } = await import('../render-table.ts');
  const tokens = await (await tokensOf(options)).list();
  const json = tokens.map(({ name, scope, createdAt }) => ({ name, scope, createdAt: createdAt.toISOString() }));
  const rows = json.map(({ name, scope, createdAt }) => [name, scope, createdAt]);
  return {
    json,
    text: rows.length === 0 ? 'There are no tokens.\n' : renderTable(['name', 'scope', 'made'], rows, terminal),
  };
}

async function remove(
  options: StoreOptions & { readonly force?: boolean },
  _terminal: Terminal,
  name: string,
): Promise<Result> {
  const removed = await (await changeableTokens(options, '`gdn store token remove`')).remove(name, options.force);
  if (!removed) {
    const { GoondanError } = await import('@goondan/types');
    const suggestion = '`gdn store token list` lists the tokens.';
    throw new GoondanError('E_CLUSTER_TOKEN', `There is no token "${name}".`, { suggestion });
  }
  return {
    json: { removed: true, name },
    text: `Removed token "${name}". Nodes refuse new requests with it within 5 seconds.\n`,
  };
}
