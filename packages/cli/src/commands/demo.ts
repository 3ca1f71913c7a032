import { checkInput } from '../check-input.ts';
import type { CommonOptions } from '../common-options.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { stopSignals } from '../stop-signals.ts';
import { withInterrupt } from '../with-interrupt.ts';

const question = 'What is the weather in Seoul for the next 30 days?';

type DemoOptions = CommonOptions & { readonly input: string; readonly studio?: boolean; readonly open: boolean };

export function addDemoCommand(program: GdnCommand): void {
  const command = program
    .command('demo')
    .summary('watch two agents answer, layer by layer')
    .description(
      'Runs a swarm of two agents, each in its own process, with tools and extensions on a scripted model. Prints ' +
        'the answer and the onion trace: every layer of the turn in both agents, its own time, and its changes. Before ' +
        'an agent books anything, the demo asks you. The demo needs no key and no network, and keeps nothing.',
    )
    .option('--input <text>', 'the question', checkInput, question)
    .option('--studio', 'watch in a browser, as with `gdn studio`, until Ctrl-C')
    .option('--no-open', 'with --studio: print the link without starting a browser')
    .commonOptions()
    .examples('gdn demo --input "Book a picnic in Lisbon"', 'gdn demo --studio --no-open')
    .runs(async ({ input, json = false, studio = false, open }: DemoOptions, terminal) => {
      if (!open && !studio) command.error("option '--no-open' needs option '--studio'");
      const run = await (studio ? importStudio() : importDemo());
      return withInterrupt((signal) => run({ input, json, opensBrowser: open }, terminal, signal), stopSignals);
    });
}

async function importDemo() {
  return (await import('../demo/run-demo.ts')).runDemo;
}

async function importStudio() {
  return (await import('../demo/show-in-studio.ts')).showInStudio;
}
