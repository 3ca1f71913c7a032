// The pages of docs/reference are what the commands say of themselves.
import { describe, expect, test } from 'bun:test';
import { createProgram } from '../packages/cli/src/create-program.ts';
import { openTerminal } from '../packages/cli/src/terminal.ts';
import { cliReferencePage, renderCliReference } from '../scripts/write-cli-reference.ts';
import { readRepository } from './read-repository.ts';
import type { Command } from 'commander';

const silent = { write: () => undefined };
const program = createProgram(openTerminal({ stdout: silent, stderr: silent, env: {} }), () => undefined);

describe('docs/reference/cli.md', () => {
  test('is what the commands say; if not, run `npm run reference`', async () => {
    expect(await Bun.file(cliReferencePage).text()).toBe(renderCliReference());
  });

  test('has every command with its usage, options and examples', () => {
    const page = renderCliReference();
    for (const command of endsOf(program)) {
      const section = page.split(`# gdn ${nameOf(command)}\n`)[1]?.split(/^#+ /m)[0] ?? '';
      expect(section, nameOf(command)).toContain(`\`\`\`text\ngdn ${nameOf(command)} [options]`);
      for (const { flags } of command.options) expect(section, nameOf(command)).toContain(`| \`${flags}\``);
      expect(section, nameOf(command)).toContain(`\`\`\`sh\n`);
    }
  });
});

describe('docs/cli.md', () => {
  test('says what every command prints with `--json`', () => {
    const [page] = readRepository('docs/cli.md');
    const rows = page?.text.match(/^\| `.+`/gm)?.join('\n') ?? '';
    expect(
      endsOf(program)
        .filter((command) => !rows.includes(`\`${nameOf(command)}\``))
        .map(nameOf),
    ).toEqual([]);
  });
});

/** The commands that do something, groups left out. */
function endsOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(endsOf);
}

/** Without `gdn`. */
function nameOf(command: Command): string {
  return command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}
