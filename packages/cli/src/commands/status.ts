import type { BundleOptions } from '../common-options.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { printJson } from '../print-json.ts';
import { startCommand } from '../swarm/start-command.ts';
import { statusJson } from '../swarm/status-json.ts';
import type { Terminal } from '../terminal.ts';

export function addStatusCommand(program: GdnCommand): void {
  program
    .command('status')
    .summary('show whether a swarm runs, and its agents')
    .description(
      'Shows whether the swarm of a bundle runs, its process, and the agent instances that run or have work, with ' +
        'the state of their MCP servers. If the swarm is not running, it says so and exits 0.',
    )
    .bundleOptions()
    .examples('gdn status --bundle my-swarm')
    .runs(showStatus);
}

async function showStatus(options: BundleOptions, terminal: Terminal): Promise<void> {
  const [{ placeOfSwarm }, { attachSwarm }, { describeStatus }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../swarm/attach-swarm.ts'),
    import('../swarm/describe-status.ts'),
  ]);
  const place = await placeOfSwarm(options);
  const status = await (await attachSwarm(place))?.status();
  if (options.json === true) return printJson(statusJson(status), terminal);
  if (status !== undefined) return terminal.print(describeStatus(status));
  terminal.print(`Swarm "${place.swarm}" is not running. Start it with \`${startCommand(options)}\`.\n`);
}
