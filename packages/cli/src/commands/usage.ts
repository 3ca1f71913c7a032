import { Option } from 'commander';
import type { BundleOptions } from '../common-options.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { readSinceDay } from '../logs/read-since.ts';
import { printJson } from '../print-json.ts';
import { startCommand } from '../swarm/start-command.ts';
import type { Terminal } from '../terminal.ts';
import { type Grouping, groupings } from '../usage/groupings.ts';

type UsageOptions = BundleOptions & { readonly by: Grouping; readonly since?: string; readonly prices?: string };

export function addUsageCommand(program: GdnCommand): void {
  program
    .command('usage')
    .summary('show the model calls and tokens of a swarm, and their cost')
    .description(
      'Sums up the model calls that a swarm has paid for, each once: also those of failed turns, of layers, of resets, and ' +
        'of deleted conversations. They are kept for 400 days. The swarm does not have to run. With --prices it also shows ' +
        'the cost; a call without a known price is counted, and never guessed.',
    )
    .addOption(new Option('--by <fact>', 'the fact to sum up by').choices(groupings).default('agent'))
    .option('--since <time>', 'only days from this one on, in UTC: 7d, 2026-01-31', (text) =>
      readSinceDay(text, new Date()),
    )
    .option('--prices <file>', 'a price file, in YAML or JSON')
    .swarmOptions()
    .examples('gdn usage --bundle my-swarm', 'gdn usage --by model --since 7d --prices prices/models.yaml')
    .runs((options: UsageOptions, terminal) => showUsage(options, terminal));
}

async function showUsage(options: UsageOptions, terminal: Terminal): Promise<void> {
  const [{ placeOfSwarm }, { withStore }, { reportUsage }, { printUsage }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../instance/with-store.ts'),
    import('../usage/sum-spendings.ts'),
    import('../usage/print-usage.ts'),
  ]);
  const { by, json, prices: file, since } = options;
  const prices = file === undefined ? undefined : await (await import('../read-prices.ts')).readPrices(file);
  const place = await placeOfSwarm(options);
  const read = await withStore(place, { spendings: [], problems: [] }, ({ usage }) => usage.read(since));
  const report = reportUsage(read, { by, since, prices });
  if (json === true) return printJson(report, terminal);
  if (report.rows.length > 0 || report.problems !== undefined) return printUsage(report, terminal);
  const days = since === undefined ? '' : ` since ${since}`;
  terminal.printError(
    `Swarm "${place.swarm}" has made no model call${days}. Ask it something: \`${startCommand(options)}\`.\n`,
  );
}
