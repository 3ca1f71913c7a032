// Checks that the pages of docs/reference equal the texts of the commands and the schemas.
import { describe, expect, test } from 'bun:test';
import type { Command } from 'commander';
import { join } from 'node:path';
import { loadBundle } from '@goondan/runtime/bundle';
import { createProgram } from '../packages/cli/src/create-program.ts';
import { openTerminal } from '../packages/cli/src/terminal.ts';
import { cliReferencePage, renderCliReference } from '../scripts/render-cli-reference.ts';
import {
  configurationReferencePage,
  exampleFile,
  renderConfigurationReference,
} from '../scripts/render-configuration-reference.ts';
import { controlPage, renderControlPage } from '../scripts/render-control-page.ts';
import { defaultPolicy } from '../packages/runtime/src/config/turn-policy.ts';
import { bundleJsonSchema } from '../packages/runtime/src/config/bundle/kinds/bundle-json-schema.ts';
import { resourceSchemas } from '../packages/runtime/src/config/bundle/kinds/resource-schemas.ts';
import { listFields, type SchemaNode } from '../scripts/list-fields.ts';
import { readRepository, repository } from './read-repository.ts';

const silent = { write: () => undefined };
const program = createProgram(openTerminal({ stdout: silent, stderr: silent, env: {} }), () => undefined);

describe('docs/reference/cli.md', () => {
  test('equals the texts of the commands; otherwise run `npm run write`', async () => {
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
  test('describes the output of every command with `--json`', () => {
    const [page] = readRepository('docs/cli.md');
    const rows = page?.text.match(/^\| `.+`/gm)?.join('\n') ?? '';
    expect(
      endsOf(program)
        .filter((command) => !rows.includes(`\`${nameOf(command)}\``))
        .map(nameOf),
    ).toEqual([]);
  });
});

describe('docs/control-socket.md', () => {
  test('has the current operations; otherwise run `npm run write`', async () => {
    const page = await Bun.file(controlPage).text();
    expect(page).toBe(renderControlPage(page));
  });
});

describe('docs/reference/configuration.md', () => {
  // The cast is safe: `bundleJsonSchema` returns a schema of draft 7.
  const { definitions = {} } = bundleJsonSchema() as SchemaNode;

  test('equals the texts of the schemas; otherwise run `npm run write`', async () => {
    expect(await Bun.file(configurationReferencePage).text()).toBe(renderConfigurationReference());
  });

  test.each(Object.keys(definitions))('every field of %s has a type and a description', (name) => {
    const { properties = {} } = definitions[name] ?? {};
    const spec = definitions[`${name}Spec`] ?? properties['spec'] ?? definitions[name] ?? {};
    const specs = spec.oneOf ?? [spec];
    const fields = specs.flatMap((form) => listFields(form));
    expect(fields).not.toBeEmpty();
    const poor = fields.filter(
      ({ type, description }) => type.includes('anything') || !/^[A-Z`].*[.…]$/.test(description),
    );
    expect(poor).toEqual([]);
  });

  test('has the default of every limit of an agent, which is that of its swarm', () => {
    const section = renderConfigurationReference().split('\n## Agent\n')[1]?.split('\n## ')[0] ?? '';
    const cells = section.split('\n').map((row) => row.split('|').map((cell) => cell.trim()));
    const shown = Object.fromEntries(cells.map(([, field = '', , byDefault]) => [field, byDefault]));
    for (const [name, value] of Object.entries(defaultPolicy)) {
      const expected = value === undefined ? 'the swarm’s' : `the swarm’s, else \`${value}\``;
      expect(shown[`\`policy.${name}\``], name).toBe(expected);
    }
  });

  test('has a valid example of every kind', async () => {
    const folder = join(repository, 'examples/every-kind');
    const loaded = await loadBundle(folder, { environment: { TEAM_KEY: 'not-a-real-key' } });
    expect({ errors: loaded.errors, warnings: loaded.warnings }).toEqual({ errors: [], warnings: [] });
    expect(
      [...new Set(loaded.resources.map(({ kind, document }) => `${kind} ${document.placeOf([]).file}`))].toSorted(),
    ).toEqual(
      Object.keys(resourceSchemas)
        .map((kind) => `${kind} ${exampleFile(kind)}`)
        .toSorted(),
    );
  });
});

/** Lists all commands except groups. */
function endsOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(endsOf);
}

/** Returns the full name of a command, without `gdn`. */
function nameOf(command: Command): string {
  return command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}
