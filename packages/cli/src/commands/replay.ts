import { bundleFolder } from '../common-options.ts';
import { exitCodes } from '../exit-codes.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { addFolder, addSwap, addWithout } from '../replay/read-swaps.ts';
import type { ReplayRequest } from '../replay/replay-turn.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

const description =
  'Runs a recorded turn again without calling a model, a tool or another agent. Their answers, the clock, ids and ' +
  'random numbers come from the recording. Only the layers run, in their current version. The first layer that ' +
  'behaves differently is shown, and the exit code is 1. With --swap and --without you change the extensions. The ' +
  'conversation is not changed, and the swarm does not have to run.';

export function addReplayCommand(program: GdnCommand): void {
  const command = program
    .command('replay')
    .argument('[turn]', 'the id of a turn or its beginning, as `gdn trace` shows it; `last` (default: the latest turn)')
    .summary('run a recorded turn again and compare')
    .description(description)
    .option('--swap <extension=file>', 'use this file instead of an extension. You can repeat this option', addSwap)
    .option('--without <extension>', 'leave an extension out. You can repeat this option', addWithout)
    .option(
      '--also <folder>',
      'another version of the bundle, for a turn that ran with more than one plan. You can repeat this option',
      addFolder,
    )
    .option('--trust', "run the bundle's extensions without asking, for this run only")
    .swarmOptions()
    .examples(
      'gdn replay --bundle my-swarm',
      'gdn replay 1f3a9c2b --bundle my-swarm --swap Extension/guard=./new-guard.ts',
      'gdn replay last --bundle my-swarm --without Extension/guard',
    )
    .readsBundle('use')
    .runs((options: Partial<ReplayRequest>, terminal, turn?: string) => {
      const { swap = {}, without = [], also = [], trust = false } = options;
      const both = without.find((name) => Object.hasOwn(swap, name));
      if (both !== undefined) command.error(`Extension/${both} cannot be replaced and left out at once`);
      const folder = bundleFolder(undefined, options);
      const meant = turn === undefined || turn === 'last' ? {} : { turn };
      const request = { ...options, ...meant, swap, without, also, trust, folder, workdir: process.cwd() };
      return withInterrupt((signal) => replay(request, terminal, signal));
    });
}

async function replay(request: ReplayRequest, terminal: Terminal, signal: AbortSignal): Promise<Result> {
  const [{ replayTurn }, { renderReplay }] = await Promise.all([
    import('../replay/replay-turn.ts'),
    import('../replay/render-replay.ts'),
  ]);
  const report = await replayTurn(request, terminal, signal);
  const isSame = report.divergence === undefined && report.without === undefined;
  const text = renderReplay(report, terminal, request.swap);
  return { json: report, text, code: isSame ? exitCodes.ok : exitCodes.failure };
}
