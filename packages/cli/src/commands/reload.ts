import { GoondanError } from '@goondan/types';
import { bundleFolder, type BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import type { Terminal } from '../terminal.ts';

const description =
  'Makes a running swarm read its bundle again. Running agents take the change at their next step and keep every part ' +
  'that did not change; if a change needs another process, the process is replaced between turns. Changed ' +
  'connections are started again. Changed parts are first started on trial. If the bundle has errors or a part does ' +
  'not start, nothing changes. Ctrl-C ends only this command: the swarm finishes or refuses the reload as a whole.';

export function addReloadCommand(program: GdnCommand): void {
  program
    .command('reload')
    .summary('make a running swarm read its bundle again')
    .description(description)
    .swarmOptions()
    .examples('gdn reload --bundle my-swarm')
    .readsBundle('use')
    .runs(reload);
}

/**
 * The swarm checks the bundle itself and, if it refuses the bundle, logs why. This command also prints every problem of
 * the bundle with its place.
 */
async function reload(options: BundleOptions, terminal: Terminal): Promise<Result> {
  const [{ reachSwarm }, { openBundle }, { describeReload }, { showReloadProgress }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../bundle/open-bundle.ts'),
    import('../swarm/describe-reload.ts'),
    import('../swarm/show-reload-progress.ts'),
  ]);
  const swarm = await reachSwarm(options);
  const outcome = 'nothing has changed, and the swarm keeps running';
  const printProblems = () => openBundle(bundleFolder(undefined, options), terminal, { outcome });
  const result = await showReloadProgress(swarm, terminal, () => swarm.reload()).catch(async (error: unknown) => {
    if (GoondanError.is(error) && error.code === 'E_BUNDLE_INVALID') await printProblems();
    throw error;
  });
  // Prints warnings. Ignores errors: the swarm accepted the bundle, so a file has changed since, and the error belongs
  // to the next reload.
  await printProblems().catch(() => undefined);
  return { json: result, text: describeReload(result) };
}
