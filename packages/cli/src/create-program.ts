/** The commands of `gdn`. What a command needs is imported when it runs. */
import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { addApproveCommands } from './commands/approve.ts';
import { addCancelCommand } from './commands/cancel.ts';
import { addDeadletterCommand } from './commands/deadletter.ts';
import { addDemoCommand } from './commands/demo.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addExplainCommand } from './commands/explain.ts';
import { addInitCommand } from './commands/init.ts';
import { addInstanceCommand } from './commands/instance.ts';
import { addLogsCommand } from './commands/logs.ts';
import { addReloadCommand } from './commands/reload.ts';
import { addRestartCommand } from './commands/restart.ts';
import { addRunCommand } from './commands/run.ts';
import { addSendCommand } from './commands/send.ts';
import { addStatusCommand } from './commands/status.ts';
import { addStopCommand } from './commands/stop.ts';
import { addValidateCommand } from './commands/validate.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** Commands tell `finish` how they ended; what they throw, and every way to end early, is thrown by `parseAsync`. */
export function createProgram(terminal: Terminal, finish: (code: ExitCode) => void): Command {
  const program = new Command('gdn')
    .description('Runs swarms of AI agents.')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print what a command does')
    .helpCommand('help [command]', 'print what a command does')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text),
      writeErr: (text) => terminal.printError(text),
      // It is thrown as well, and reported where it is caught.
      outputError: () => undefined,
    })
    .addHelpText('after', exitCodesHelp)
    .addHelpText('after', '\nExample:\n  $ gdn demo');
  for (const add of commands) add(program, terminal, finish);
  return program;
}

/** In the order of the help. */
const commands = [
  addInitCommand,
  addRunCommand,
  addSendCommand,
  addStatusCommand,
  addApproveCommands,
  addCancelCommand,
  addReloadCommand,
  addRestartCommand,
  addStopCommand,
  addLogsCommand,
  addInstanceCommand,
  addDeadletterCommand,
  addValidateCommand,
  addExplainCommand,
  addDoctorCommand,
  addDemoCommand,
];

const exitCodesHelp = `
Exit codes:
  0    it worked
  1    it failed
  2    the command line is wrong
  3    there is nothing to run, or the set-up is wrong
  4    the bundle has errors
  130  it was interrupted`;

function readVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { version }: { version: string } = JSON.parse(manifest);
  return version;
}
