import type { Command } from 'commander';
import { checkInput } from '../check-input.ts';
import { addCommonOptions } from '../common-options.ts';
import type { ExitCode } from '../exit-codes.ts';
import { stopSignals } from '../stop-signals.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

const question = 'What is the weather in Seoul for the next 30 days?';

interface DemoCommandOptions {
  readonly input: string;
  readonly json?: boolean;
  readonly studio?: boolean;
}

export function addDemoCommand(program: Command, terminal: Terminal, finish: (code: ExitCode) => void): void {
  const command = program
    .command('demo')
    .summary('watch two agents answer, layer by layer')
    .description(
      'Runs a swarm of two agents with tools and extensions on a scripted model, each in a process of its own, and prints ' +
        'the answer and the onion trace: every layer the turn went through in both agents, the time it took itself, and ' +
        'what it changed. A booking asks you first. Needs no key and no network, and keeps nothing.',
    )
    .option('--input <text>', 'what to ask', checkInput, question)
    .option('--studio', 'watch it in a browser instead, as `gdn studio` shows it, until Ctrl-C');
  addCommonOptions(command)
    .addHelpText('after', '\nExamples:\n  $ gdn demo --input "Book a picnic in Lisbon"\n  $ gdn demo --studio')
    .action(async ({ input, json = false, studio = false }: DemoCommandOptions) => {
      const run = await (studio ? importStudio() : importDemo());
      finish(await withInterrupt((signal) => run({ input, json }, terminal, signal), stopSignals));
    });
}

async function importDemo() {
  return (await import('../demo/run-demo.ts')).runDemo;
}

async function importStudio() {
  return (await import('../demo/show-in-studio.ts')).showInStudio;
}
