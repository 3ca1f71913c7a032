// Renders docs/reference/cli.md from the commands themselves, so that the page and `--help` are the same text.
import type { Command, Help } from 'commander';
import { join } from 'node:path';
import { createProgram } from '../packages/cli/src/create-program.ts';
import { openTerminal } from '../packages/cli/src/terminal.ts';
import { markdownTable } from './markdown-table.ts';

export const cliReferencePage = join(import.meta.dir, '..', 'docs/reference/cli.md');

/** Renders every command with its usage, arguments, options and examples, in the groups and the order of the help. */
export function renderCliReference(): string {
  const { program, helpOf } = describedProgram();
  const commands = program.commands.flatMap(withSubcommands);
  const index = [...Map.groupBy(program.commands, (command) => command.helpGroup())].flatMap(([heading, group]) => [
    `**${heading}**\n`,
    markdownTable(
      ['command', 'does'],
      group
        .flatMap(withSubcommands)
        .map((command) => [`[\`${pathOf(command)}\`](#${anchorOf(command)})`, command.summary()]),
    ),
  ]);
  const sections = commands.map((command) => renderCommand(command, helpOf(command)));
  return [introduction, ...index, ...sections].join('\n');
}

const introduction = `# Commands

Every command of \`gdn\` with its options and an example: the same texts as \`gdn <command> --help\`. For exit codes,
\`--json\`, trust, and swarms as a service, see [the guide to \`gdn\`](../cli.md).

This page is generated from \`packages/cli/src/commands\` by \`npm run write\`.
`;

/** Returns the part of a command's `--help` that follows its arguments and options. */
type HelpOf = (command: Command) => string;

function describedProgram(): { program: Command; helpOf: HelpOf } {
  let printed = '';
  const stdout = { write: (text: string) => (printed += text) };
  const program = createProgram(openTerminal({ stdout, stderr: stdout, env: {} }), () => undefined);
  return {
    program,
    helpOf(command) {
      printed = '';
      command.outputHelp();
      return printed.slice(printed.indexOf(command.helpInformation()) + command.helpInformation().length);
    },
  };
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function anchorOf(command: Command): string {
  return pathOf(command).replaceAll(' ', '-');
}

function renderCommand(command: Command, moreHelp: string): string {
  const help = Object.assign(command.createHelp(), command.configureHelp());
  const depth = pathOf(command).split(' ').length;
  return [
    `${'#'.repeat(depth)} ${pathOf(command)}\n`,
    `${help.commandDescription(command)}\n`,
    codeBlock('text', [help.commandUsage(command)]),
    renderArguments(command, help),
    renderOptions(command, help),
    ...renderMore(moreHelp),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function renderArguments(command: Command, help: Help): string {
  return markdownTable(
    ['argument', 'meaning'],
    command.registeredArguments.map((argument) => {
      const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
      return [`\`${argument.required ? `<${name}>` : `[${name}]`}\``, help.argumentDescription(argument)];
    }),
  );
}

/** Renders all options except `--help`, which every command has. */
function renderOptions(command: Command, help: Help): string {
  return markdownTable(
    ['option', 'meaning'],
    command.options
      .filter(({ hidden }) => !hidden)
      .map((option) => [`\`${help.optionTerm(option)}\``, help.optionDescription(option)]),
  );
}

/**
 * Renders the parts of a help text. Each part is a heading (`Examples:`) and the lines below it. Commands are shown
 * without their prompt.
 */
function renderMore(text: string): string[] {
  return text.split(/^(?=\S)/m).flatMap((part) => {
    const [heading = '', ...lines] = part.trimEnd().split('\n');
    const body = lines.map((line) => line.replace(/^ {2}/, ''));
    if (body.length === 0) return [];
    const isShell = body.every((line) => line.startsWith('$ '));
    const block = isShell
      ? codeBlock(
          'sh',
          body.map((line) => line.slice(2)),
        )
      : codeBlock('text', body);
    return [`${heading}\n`, block];
  });
}

function codeBlock(language: string, lines: readonly string[]): string {
  return `\`\`\`${language}\n${lines.join('\n')}\n\`\`\`\n`;
}
