import type { BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

export function addStoreCommand(program: GdnCommand): void {
  const group = program
    .command('store')
    .summary('free the space of old files')
    .description('These commands work on the files of a swarm, while it runs and while it is stopped.')
    .examples('gdn store compact --bundle my-swarm');

  group
    .command('compact')
    .summary('remove the files of an older version')
    .description(
      'Removes the files in the format of an older version, which a migration keeps for 7 days in the folder `format-1` ' +
        'of the state root. After that, an older version can no longer read the conversations. The conversations themselves do not ' +
        'change. Without such files, nothing happens.',
    )
    .flockOption()
    .bundleOptions()
    .examples('gdn store compact --bundle my-swarm')
    .runs(compact);
}

async function compact(options: BundleOptions & { readonly flock: boolean }, _terminal: Terminal): Promise<Result> {
  const [{ placeOfSwarm }, { compactStore }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../instance/compact-store.ts'),
  ]);
  const place = { ...(await placeOfSwarm(options)), flock: options.flock };
  const { bytes } = await withInterrupt((signal) => compactStore(place, signal));
  const text =
    bytes === 0 ? 'There is nothing to remove.\n' : `Removed the files of an older version: ${bytes} bytes are free.\n`;
  return { json: { bytes }, text };
}
