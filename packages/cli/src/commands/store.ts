import type { StoreOptions } from '../common-options.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { addStoreImportCommand } from './store-import.ts';
import { addStoreTokenCommand } from './store-token.ts';

const EXAMPLE_STORE = '--store postgres://gdn@db.example/gdn';

export function addStoreCommand(program: GdnCommand): void {
  const group = program
    .command('store')
    .summary('prepare a database')
    .description(
      'A swarm keeps its conversations in files, or in a PostgreSQL database that any number of nodes share. These ' +
        'commands prepare such a database.',
    )
    .examples(`gdn store init ${EXAMPLE_STORE}`, `gdn store status ${EXAMPLE_STORE}`);

  group
    .command('init')
    .summary('make the tables and the first token')
    .description(
      'Makes the tables in a PostgreSQL database, and the first token, with which nodes and people reach each other. The ' +
        'token is that of GOONDAN_CLUSTER_TOKEN, or else a new one, which is printed once. If the tables exist, they do ' +
        'not change; if a token that may operate exists, none is made.',
    )
    .commonOptions()
    .storeOption()
    .examples(`gdn store init ${EXAMPLE_STORE}`, 'GOONDAN_STORE=@store.txt gdn store init --json')
    .runs(async (options: StoreOptions) => {
      const [{ needCluster }, { initStore }] = await imports();
      return initStore(needCluster(options));
    });

  group
    .command('status')
    .summary('show the state of a database')
    .description(
      'Shows the version of the server and of the tables, the swarms with their nodes, and the sizes. Warns when an ' +
        'acknowledged turn could be lost with the server: then PostgreSQL answers before the data is safe.',
    )
    .commonOptions()
    .storeOption()
    .examples(`gdn store status ${EXAMPLE_STORE}`)
    .runs(async (options: StoreOptions, terminal) => {
      const [{ needCluster }, { showStoreStatus }] = await imports();
      return showStoreStatus(needCluster(options), terminal);
    });

  addStoreImportCommand(group);
  addStoreTokenCommand(group);
}

function imports() {
  return Promise.all([import('../cluster/need-cluster.ts'), import('../cluster/store-work.ts')]);
}
