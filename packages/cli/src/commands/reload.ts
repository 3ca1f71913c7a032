import type { Command } from 'commander';
import { addBundleOptions, bundleFolder, type BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';

const description =
  'Lets a running swarm read its bundle again. The processes of changed agents and connections are replaced, agents ' +
  'between turns; everything else stays as it is, and conversations go on. Changed parts are started on trial first. A ' +
  'bundle with errors, or a part that does not start, changes nothing.';

export function addReloadCommand(program: Command, terminal: Terminal, finish: (code: ExitCode) => void): void {
  const command = program
    .command('reload')
    .summary('let a running swarm read its bundle again')
    .description(description);
  addBundleOptions(command)
    .addHelpText('after', '\nExample:\n  $ gdn reload --bundle my-swarm')
    .action(async (options: BundleOptions) => {
      await reload(options, terminal);
      finish(exitCodes.ok);
    });
}

async function reload(options: BundleOptions, terminal: Terminal): Promise<void> {
  const [{ reachSwarm }, { openBundle }, { describeChanges }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../bundle/open-bundle.ts'),
    import('@goondan/runtime'),
  ]);
  const swarm = await reachSwarm(options);
  // The swarm looks for itself; but here everything that is wrong can be printed with its place.
  await openBundle(bundleFolder(undefined, options), terminal);
  const changes = await swarm.reload();
  if (options.json === true) printJson(changes, terminal);
  else terminal.print(`${describeChanges(changes)}\n`);
}
