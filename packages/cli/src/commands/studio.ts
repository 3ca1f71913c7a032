import { bundleFolder, type BundleOptions, numberUpTo } from '../common-options.ts';
import type { GdnCommand } from '../gdn-command.ts';

type StudioOptions = BundleOptions & {
  readonly port?: number;
  readonly host?: string;
  readonly open: boolean;
  readonly prices?: string;
};

export function addStudioCommand(program: GdnCommand): void {
  const command = program
    .command('studio')
    .argument('[folder]', 'the folder of the bundle to open first')
    .summary('watch swarms in a browser, and talk to them')
    .description(
      'Serves a page that shows swarms: their agents, their conversations now and in the past, every layer of a ' +
        'turn, and questions that wait for approval. Without a bundle it shows everything in the state root. ' +
        'Studio listens on this machine only, and needs the link that it prints. Studio does not run code of a bundle. Ctrl-C ' +
        'ends it.',
    )
    .option('--port <number>', 'the port (default: a free one)', numberUpTo(65_535))
    .option('--host <address>', 'only 127.0.0.1 and localhost: Studio listens on this machine only')
    .option('--prices <file>', 'show the cost of model calls, at the prices of this file (YAML or JSON)')
    .option('--no-open', 'print the link without starting a browser')
    .swarmOptions()
    .examples(
      'gdn studio',
      'gdn studio my-swarm --port 4100 --no-open',
      'gdn studio my-swarm --prices prices/models.yaml',
    )
    .readsBundle('look')
    .runs(async ({ port, host, open, ...options }: StudioOptions, terminal, folder?: string) => {
      if (host !== undefined && !loopback.includes(host)) {
        const reason = 'Studio listens on this machine only; from another one, use an SSH tunnel';
        command.error(`option '--host <address>' argument '${host}' is invalid. ${reason}.`);
      }
      const { runStudio } = await import('../studio/run-studio.ts');
      const bundle = folder === undefined ? options.bundle : bundleFolder(folder, options);
      const named = { ...options, ...(bundle === undefined ? {} : { bundle }) };
      return runStudio({ ...named, ...(port === undefined ? {} : { port }), opensBrowser: open }, terminal);
    });
}

const loopback = ['127.0.0.1', 'localhost'];
