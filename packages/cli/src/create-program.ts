/** The commands of `gdn`. A command imports its dependencies only when it runs. */
import type { Command } from 'commander';
import { addApproveCommands } from './commands/approve.ts';
import { addBackupCommand } from './commands/backup.ts';
import { addBlameCommand } from './commands/blame.ts';
import { addCancelCommand } from './commands/cancel.ts';
import { addChangesCommand } from './commands/changes.ts';
import { addClusterCommand } from './commands/cluster.ts';
import { addDeadletterCommand } from './commands/deadletter.ts';
import { addDemoCommand } from './commands/demo.ts';
import { addDeployCommand } from './commands/deploy.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addExplainCommand } from './commands/explain.ts';
import { addForkCommand } from './commands/fork.ts';
import { addHistoryCommand } from './commands/history.ts';
import { addInitCommand } from './commands/init.ts';
import { addInstanceCommand } from './commands/instance.ts';
import { addLogsCommand } from './commands/logs.ts';
import { addLsCommand } from './commands/ls.ts';
import { addNodesCommand } from './commands/nodes.ts';
import { addReloadCommand } from './commands/reload.ts';
import { addMcpCommand } from './commands/mcp.ts';
import { addReplayCommand } from './commands/replay.ts';
import { addRestartCommand } from './commands/restart.ts';
import { addRestoreCommand } from './commands/restore.ts';
import { addRunCommand } from './commands/run.ts';
import { addSendCommand } from './commands/send.ts';
import { addStatusCommand } from './commands/status.ts';
import { addStopCommand } from './commands/stop.ts';
import { addStoreCommand } from './commands/store.ts';
import { addStudioCommand } from './commands/studio.ts';
import { addTraceCommand } from './commands/trace.ts';
import { addUsageCommand } from './commands/usage.ts';
import { addValidateCommand } from './commands/validate.ts';
import type { ExitCode } from './exit-codes.ts';
import { wrapWords } from './fit-width.ts';
import { GdnCommand, helpWidth } from './gdn-command.ts';
import { readVersion } from './read-version.ts';
import type { Terminal } from './terminal.ts';

/**
 * A command prints its errors, and passes its exit code to `finish`. `parseAsync` throws the errors of the command line,
 * and a `CommanderError` for every early exit.
 */
export function createProgram(terminal: Terminal, finish: (code: ExitCode) => void): Command {
  const program = new GdnCommand('gdn', terminal, finish)
    .description(description)
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .commandsGroup(GET_STARTED)
    .helpCommand(...help)
    .exitOverride()
    // So that `gdn nodes drain` has options of its own, although `gdn nodes` has the same ones.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => terminal.print(fitHelp(text, terminal.columns)),
      writeErr: (text) => terminal.printError(text),
      getOutHelpWidth: () => helpWidth(terminal.columns),
      getErrHelpWidth: () => helpWidth(terminal.columns),
      // Help has no colours to remove. By default commander would load the streams of Node to find out.
      getOutHasColors: () => true,
      getErrHasColors: () => true,
    })
    .addHelpText('after', exitCodesHelp)
    .examples('gdn demo', 'gdn init my-swarm && gdn run my-swarm --trust --input "What time is it in Asia/Seoul?"')
    .hook('preAction', (_program, command) => refuseEmptyValues(command));
  for (const [heading, ...adders] of groups) {
    program.commandsGroup(heading);
    for (const add of adders) add(program);
  }
  // Otherwise a group of commands would inherit the help command with its heading.
  for (const group of program.commands.filter(({ commands }) => commands.length > 0)) group.helpCommand(...help);
  return program;
}

const help = ['help [command]', 'print the help of a command'] as const;

const GET_STARTED = 'Get started:';

/** The commands by their purpose, in the order of the help. */
const groups: readonly (readonly [heading: string, ...add: ((program: GdnCommand) => void)[]])[] = [
  [GET_STARTED, addDemoCommand, addInitCommand, addDoctorCommand],
  ['Write a bundle:', addValidateCommand, addExplainCommand, addMcpCommand],
  [
    'Run a swarm:',
    addRunCommand,
    addSendCommand,
    addApproveCommands,
    addCancelCommand,
    addChangesCommand,
    addReloadCommand,
    addRestartCommand,
    addStopCommand,
    addDeployCommand,
    addClusterCommand,
  ],
  [
    'Watch swarms:',
    addLsCommand,
    addStatusCommand,
    addNodesCommand,
    addStudioCommand,
    addLogsCommand,
    addTraceCommand,
    addUsageCommand,
    addReplayCommand,
  ],
  [
    'Read and change conversations:',
    addInstanceCommand,
    addHistoryCommand,
    addBlameCommand,
    addForkCommand,
    addDeadletterCommand,
    addBackupCommand,
    addRestoreCommand,
    addStoreCommand,
  ],
];

const description =
  'Runs swarms of AI agents. A bundle is a folder with a goondan.yaml that describes a swarm: its agents, models, ' +
  'tools and extensions. Read more about a command with `gdn <command> --help`.';

const exitCodesHelp = `
Exit codes:
  0    it worked
  1    it failed
  2    the command line is wrong
  3    there is nothing to run, or the set-up is wrong
  4    the bundle has errors
  130  it was interrupted`;

/** Breaks the lines of a help that commander does not wrap. Examples stay whole, because people copy them. */
function fitHelp(text: string, columns: number | undefined): string {
  const lines = text.split('\n').map((line) => (line.startsWith('  $ ') ? line : wrapWords(line, columns, '  ')));
  return lines.join('\n');
}

/** Rejects an empty value, because a script passes one when a variable is not set. */
function refuseEmptyValues(command: Command): void {
  const empty = command.options.find((option) => {
    const value: unknown = command.getOptionValue(option.attributeName());
    return value === '' || (Array.isArray(value) && value.includes(''));
  });
  if (empty !== undefined) command.error(`option '${empty.flags}' argument '' is invalid. It is empty.`);
  const index = command.args.indexOf('');
  const name = command.registeredArguments[index]?.name();
  if (name !== undefined) command.error(`argument '${name}' is invalid. It is empty.`);
}
