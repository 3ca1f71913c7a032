import type { BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import type { Terminal } from '../terminal.ts';
import { startCommand } from '../swarm/start-command.ts';
import { statusJson } from '../swarm/status-json.ts';

export function addStatusCommand(program: GdnCommand): void {
  program
    .command('status')
    .summary('show whether a swarm runs, and its agents')
    .description(
      'Shows whether the swarm of a bundle runs, its process, and the agent instances that run or have work, with ' +
        'the state of their MCP servers. If the swarm is not running, it says so, lists the inputs, questions and dead letters ' +
        'that wait for it and the conversations that cannot be read, and exits 0. A long list is cut at 20 ' +
        'conversations: first those that need attention or work, then ' +
        'the newest; shared processes then have one line each, with their number of conversations. With --json, all are listed.',
    )
    .swarmOptions()
    .examples('gdn status --bundle my-swarm')
    .runs(showStatus);
}

async function showStatus(options: BundleOptions, terminal: Terminal): Promise<Result> {
  const [{ placeOfSwarm }, { attachSwarm }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../swarm/attach-swarm.ts'),
  ]);
  const place = await placeOfSwarm(options);
  const status = await (await attachSwarm(place))?.status();
  if (status !== undefined) {
    const { describeStatus } = await import('../swarm/describe-status.ts');
    return { json: statusJson(status), text: describeStatus(status, terminal) };
  }
  const { describeLeftWork, readLeftWork } = await import('../swarm/left-work.ts');
  const left = await readLeftWork(place);
  const text = `Swarm "${place.swarm}" is not running. Start it with \`${startCommand(options)}\`.\n`;
  return { json: statusJson(undefined, left), text: `${text}${describeLeftWork(left, terminal)}` };
}
