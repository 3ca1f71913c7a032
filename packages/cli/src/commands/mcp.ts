import type { Command } from 'commander';
import { addBundleOptions, bundleFolder, type BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { AddOptions } from '../mcp/read-entry.ts';
import { printJson } from '../print-json.ts';
import { stopSignals } from '../stop-signals.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

export function addMcpCommand(program: Command, terminal: Terminal, finish: (code: ExitCode) => void): void {
  const group = program
    .command('mcp')
    .summary('look after servers of the Model Context Protocol')
    .description(
      'The MCP servers in the .mcp.json of a bundle, and which of their tools may be used. `gdn mcp test` starts one; ' +
        'the other commands start none.',
    )
    .addHelpText('after', '\nExample:\n  $ gdn mcp add files -- npx -y @modelcontextprotocol/server-filesystem .');

  const add = group
    .command('add')
    .argument('<name>', 'what it is called; its tools are <name>__…')
    .argument('[command...]', 'after --: the program that is the server, and its arguments')
    .summary('add a server')
    .description(
      'Writes a server into the .mcp.json of the bundle, and says what to put into goondan.yaml if nothing there uses ' +
        'it. ${NAME} in any of its texts stands for a variable that the agent declares in its environment; ' +
        '${GOONDAN_BUNDLE} and ${GOONDAN_WORKDIR} are its folders.',
    )
    .option('--url <url>', 'the address of a server that is reached by HTTP')
    .option('--env <NAME=value>', 'a variable for its process; NAME alone is ${NAME}. May be repeated', collect)
    .option('--header <NAME=value>', 'a header for --url. May be repeated', collect)
    .option('--cwd <folder>', 'the folder it runs in (default: the folder of the bundle)')
    .option('--force', 'replace one of the same name');
  addBundleOptions(add)
    .addHelpText(
      'after',
      '\nExamples:\n' +
        '  $ gdn mcp add github --env GITHUB_TOKEN -- npx -y @modelcontextprotocol/server-github\n' +
        "  $ gdn mcp add tickets --url https://mcp.example.com/mcp --header 'Authorization=Bearer ${TOKEN}'",
    )
    .action(async (name: string, command: string[], options: BundleOptions & AddOptions & { force?: boolean }) => {
      await addServer(name, command, options, terminal);
      finish(exitCodes.ok);
    });

  const list = group
    .command('list')
    .summary('list servers')
    .description(
      'Lists the servers of the .mcp.json, and who uses them. Values of variables and headers are not shown.',
    );
  addBundleOptions(list)
    .addHelpText('after', '\nExample:\n  $ gdn mcp list --bundle my-swarm')
    .action(async (options: BundleOptions) => {
      await showServers(options, terminal);
      finish(exitCodes.ok);
    });

  const remove = group
    .command('remove')
    .argument('<name>', 'which one')
    .summary('remove a server')
    .description('Takes a server out of the .mcp.json of the bundle.');
  addBundleOptions(remove)
    .addHelpText('after', '\nExample:\n  $ gdn mcp remove files --bundle my-swarm')
    .action(async (name: string, options: BundleOptions) => {
      await removeServer(name, options, terminal);
      finish(exitCodes.ok);
    });

  const test = group
    .command('test')
    .argument('<name>', 'the extension, as the agent calls it, or a server of .mcp.json')
    .summary('connect to a server and list its tools')
    .description(
      'Starts a server as its agent would, lists its tools, calls one if asked to, and ends it. The waits are those of ' +
        '`timeouts` in its config: 30 seconds to connect, 15 to list, 60 to call, unless it says otherwise. Exits with 1 when ' +
        'the server cannot be reached or the call fails.',
    )
    .option('--agent <name>', 'the agent whose config and environment count, when several use the name')
    .option('--call <tool>', 'a tool to call')
    .option('--args <json>', 'its arguments, a JSON object (default: {})')
    .option('--trust', 'start it without asking, this time');
  addBundleOptions(test)
    .addHelpText(
      'after',
      '\nExamples:\n' +
        '  $ gdn mcp test notes --bundle my-swarm\n' +
        `  $ gdn mcp test notes --call search --args '{"word": "flour"}'`,
    )
    .action(async (name: string, options: TestOptions) => {
      if (options.args !== undefined && options.call === undefined) test.error("option '--args' needs option '--call'");
      await withInterrupt((signal) => showTest(name, options, terminal, signal), stopSignals);
      finish(exitCodes.ok);
    });

  const approve = group
    .command('approve')
    .argument('<name>', 'the extension, as the agent calls it')
    .argument('[tool...]', 'which of its tools')
    .summary('approve tools that are withheld')
    .description(
      'A tool that is not what it was when it was first seen is withheld from the model. Without tools to approve this ' +
        'shows which those are; with them, or --all, it writes their fingerprints into .mcp.lock.json of the bundle, and ' +
        'they are offered from the next turn on.',
    )
    .option('--all', 'all that are withheld');
  addBundleOptions(approve)
    .addHelpText('after', '\nExample:\n  $ gdn mcp approve github create_issue --bundle my-swarm')
    .action(async (name: string, tools: string[], options: BundleOptions & { all?: boolean }) => {
      await approveTools(name, tools, options, terminal);
      finish(exitCodes.ok);
    });
}

interface TestOptions extends BundleOptions {
  readonly agent?: string;
  readonly call?: string;
  readonly args?: string;
  readonly trust?: boolean;
}

async function showTest(
  name: string,
  { trust = false, ...options }: TestOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { testServer, describeTest } = await import('../mcp/test-server.ts');
  const request = { ...options, name, trust, folder: bundleFolder(undefined, options), workdir: process.cwd() };
  const tested = await testServer(request, terminal, signal);
  if (options.json === true) return printJson(tested, terminal);
  terminal.print(describeTest(tested));
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

async function addServer(
  name: string,
  command: readonly string[],
  options: BundleOptions & AddOptions & { readonly force?: boolean },
  terminal: Terminal,
): Promise<void> {
  const [{ readBundle }, edit, { serverUsers }, { readEntry, variablesOf }] = await Promise.all([
    import('../bundle/open-bundle.ts'),
    import('../mcp/edit-mcp-file.ts'),
    import('../mcp/server-users.ts'),
    import('../mcp/read-entry.ts'),
  ]);
  const entry = readEntry(name, command, options);
  const bundle = await readBundle(bundleFolder(undefined, options));
  const file = await edit.addServer(bundle.folder, name, entry, options.force === true);
  const [usedBy, needs] = [serverUsers(bundle, name), variablesOf(entry)];
  if (options.json === true) return printJson({ name, file, entry, needs, usedBy }, terminal);
  const shown = entry.type === 'http' ? entry.url : [entry.command, ...(entry.args ?? [])].join(' ');
  terminal.print(`Added "${name}" to ${file}: ${shown}\n`);
  if (usedBy.length === 0) terminal.print(declaration(name));
  if (needs.length > 0) terminal.print(environment(needs));
}

function declaration(name: string): string {
  return (
    '\nNothing in the bundle uses it yet. Give it to an agent, in its `extensions`:\n\n' +
    `  - ref: { kind: Extension, name: mcp, package: '@goondan/base' }\n    as: ${name}\n`
  );
}

function environment(needs: readonly string[]): string {
  const lines = needs.map((name) => `  ${name}: { valueFrom: { env: ${name} } }\n`);
  return `\nAn agent sees only what it declares. In its \`environment\`:\n\n${lines.join('')}`;
}

async function showServers(options: BundleOptions, terminal: Terminal): Promise<void> {
  const [{ readBundle }, { listServers }] = await Promise.all([
    import('../bundle/open-bundle.ts'),
    import('../mcp/list-servers.ts'),
  ]);
  const servers = await listServers(await readBundle(bundleFolder(undefined, options)));
  if (options.json === true) return printJson(servers, terminal);
  if (servers.length === 0) return terminal.print('There are no MCP servers. Add one with `gdn mcp add`.\n');
  for (const { name, command, args = [], url, usedBy, problem } of servers) {
    const users = usedBy.length === 0 ? 'used by nobody' : `used by ${usedBy.join(', ')}`;
    const shown = problem ?? url ?? [command, ...args].join(' ');
    terminal.print(`${terminal.colors.bold(name)}  ${shown}  (${users})\n`);
  }
}

async function removeServer(name: string, options: BundleOptions, terminal: Terminal): Promise<void> {
  const [{ readBundle }, edit, { serverUsers }] = await Promise.all([
    import('../bundle/open-bundle.ts'),
    import('../mcp/edit-mcp-file.ts'),
    import('../mcp/server-users.ts'),
  ]);
  const bundle = await readBundle(bundleFolder(undefined, options));
  const file = await edit.removeServer(bundle.folder, name);
  const usedBy = serverUsers(bundle, name);
  if (options.json === true) return printJson({ name, file, usedBy }, terminal);
  terminal.print(`Removed "${name}" from ${file}.\n`);
  if (usedBy.length > 0) terminal.print(`Still in the extensions of: ${usedBy.join(', ')}.\n`);
}

async function approveTools(
  name: string,
  tools: readonly string[],
  options: BundleOptions & { readonly all?: boolean },
  terminal: Terminal,
): Promise<void> {
  const [{ readBundle }, { placeOfSwarm }, work] = await Promise.all([
    import('../bundle/open-bundle.ts'),
    import('../swarm/reach-swarm.ts'),
    import('../mcp/approve-tools.ts'),
  ]);
  const { folder } = await readBundle(bundleFolder(undefined, options));
  const withheld = await work.findWithheld(await placeOfSwarm(options), folder, name);
  const isQuestion = tools.length === 0 && options.all !== true;
  const { file, approved } = isQuestion
    ? { file: undefined, approved: [] }
    : await work.approveTools(folder, name, withheld, tools);
  if (options.json === true) return printJson({ name, withheld, approved: approved.map(({ tool }) => tool) }, terminal);
  if (!isQuestion) return terminal.print(`Approved in ${file ?? ''}: ${approved.map(({ tool }) => tool).join(', ')}\n`);
  if (withheld.length === 0) return terminal.print(`No tool of "${name}" waits for approval.\n`);
  const { cleanText } = await import('@goondan/base/mcp');
  for (const { tool, reason, description } of withheld) {
    const shown = cleanText(description, 1_000).replaceAll('\n', '\n    ');
    terminal.print(`${terminal.colors.bold(cleanText(tool, 256))}  (${reason})\n    ${shown}\n`);
  }
  terminal.print(`\nTo approve: gdn mcp approve ${name} <tool…>, or --all\n`);
}
