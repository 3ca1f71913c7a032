import { InvalidArgumentError } from 'commander';
import type { BundleOptions } from '../common-options.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { optionsAgain } from '../swarm/options-again.ts';
import { typedGdn } from '../typed-gdn.ts';

export function addStopCommand(program: GdnCommand): void {
  program
    .command('stop')
    .summary('stop a running swarm')
    .description(
      'Lets running turns finish, then stops the swarm; waiting inputs are handled at the next start. The command ' +
        'ends when every process of the swarm has ended. Run it again to stop without waiting for turns.',
    )
    .option(
      '--grace <seconds>',
      'the time that running turns may take (default: the setting of the swarm, else 30)',
      readSeconds,
    )
    .bundleOptions()
    .examples('gdn stop --bundle my-swarm --grace 5')
    .runs(async (options: BundleOptions & { readonly grace?: number }, terminal) => {
      const [{ reachSwarm }, { stopSwarm }] = await Promise.all([
        import('../swarm/reach-swarm.ts'),
        import('../swarm/stop-swarm.ts'),
      ]);
      const swarm = await reachSwarm(options, 'There is nothing to stop.');
      const graceMs = options.grace === undefined ? undefined : options.grace * 1_000;
      const stopNow = [`${typedGdn()} stop`, ...optionsAgain(options), '--grace 0'].join(' ');
      await stopSwarm({ swarm, graceMs, stopNow }, terminal);
      return { json: { stopped: true }, text: 'Stopped.\n' };
    });
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds >= 0 && seconds <= LONGEST) return seconds;
  throw new InvalidArgumentError(`It is not a number of seconds from 0 to ${LONGEST}.`);
}

/** The longest grace: one hour, in seconds. */
const LONGEST = 3_600;
