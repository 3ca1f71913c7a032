import type { Command } from 'commander';
import { addBundleOptions, bundleFolder, type BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printJson } from '../print-json.ts';
import { addSwap, addWithout } from '../replay/read-swaps.ts';
import type { ReplayRequest } from '../replay/replay-turn.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

interface ReplayOptions extends BundleOptions {
  readonly swap?: Readonly<Record<string, string>>;
  readonly without?: readonly string[];
  readonly trust?: boolean;
}

const description =
  'Runs a recorded turn again, without asking a model, a tool or another agent: what they answered is served from the ' +
  'recording, and so are the clock, ids and chance. Only the layers run, as they are now, and the first one that does ' +
  'something else is shown: exit code 1. With --swap and --without, other extensions do. Nothing of the conversation ' +
  'is changed, and whether the swarm runs does not matter.';

const examples = `
Examples:
  $ gdn replay --bundle my-swarm
  $ gdn replay 1f3a9c2b --bundle my-swarm --swap Extension/guard=./new-guard.ts
  $ gdn replay last --bundle my-swarm --without Extension/guard`;

export function addReplayCommand(program: Command, terminal: Terminal, finish: (code: ExitCode) => void): void {
  const command = program
    .command('replay')
    .argument('[turn]', 'its id or the beginning of it, as `gdn trace` shows it; `last` (default: the latest turn)')
    .summary('run a recorded turn again, see what does something else')
    .description(description)
    .option('--swap <extension=file>', 'a file in the place of an extension; may be given again', addSwap)
    .option('--without <extension>', 'leave an extension out; may be given again', addWithout)
    .option('--trust', "run the bundle's extensions without asking, this time");
  addBundleOptions(command)
    .addHelpText('after', examples)
    .action(async (turn: string | undefined, options: ReplayOptions) => {
      const { swap = {}, without = [], trust = false, ...common } = options;
      const both = without.find((name) => Object.hasOwn(swap, name));
      if (both !== undefined) command.error(`Extension/${both} cannot be replaced and left out at once`);
      const folder = bundleFolder(undefined, options);
      const meant = turn === undefined || turn === 'last' ? {} : { turn };
      const request = { ...common, ...meant, swap, without, trust, folder, workdir: process.cwd() };
      finish(await withInterrupt((signal) => replay(request, terminal, signal)));
    });
}

async function replay(request: ReplayRequest, terminal: Terminal, signal: AbortSignal): Promise<ExitCode> {
  const [{ replayTurn }, { renderReplay }] = await Promise.all([
    import('../replay/replay-turn.ts'),
    import('../replay/render-replay.ts'),
  ]);
  const report = await replayTurn(request, terminal, signal);
  if (request.json === true) printJson(report, terminal);
  else terminal.print(renderReplay(report, { colors: terminal.colors, swap: request.swap }));
  return report.divergence === undefined && report.without === undefined ? exitCodes.ok : exitCodes.failure;
}
