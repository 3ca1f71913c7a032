import type { Bundle } from '@goondan/runtime/bundle';
import { bundleFolder, type BundleOptions } from '../common-options.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import type { AddOptions } from '../mcp/read-entry.ts';
import type { LoginRequest } from '../mcp/sign-in-commands.ts';
import type { TestRequest } from '../mcp/test-server.ts';
import { stopSignals } from '../stop-signals.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

export function addMcpCommand(program: GdnCommand): void {
  const group = program
    .command('mcp')
    .summary('manage servers of the Model Context Protocol')
    .description(
      'These commands manage the MCP servers in the .mcp.json of a bundle, the approval of their tools, and the sign-in ' +
        'at servers. Only `gdn mcp test` starts a server.',
    )
    .examples('gdn mcp add files -- npx -y @modelcontextprotocol/server-filesystem .');

  group
    .command('add')
    .argument('<name>', 'the name of the server; its tools are <name>__…')
    .argument('[command...]', 'after --: the program of the server, and its arguments')
    .summary('add a server')
    .description(
      'Writes a server into the .mcp.json of the bundle. If nothing in goondan.yaml uses it, the command prints ' +
        'what to add there. ${NAME} in any value stands for a variable that the agent declares in its environment; ' +
        '${GOONDAN_BUNDLE} is the folder of the bundle, and ${GOONDAN_WORKDIR} is the working folder of the agent.',
    )
    .option('--url <url>', 'the address of a server over HTTP')
    .option(
      '--env <NAME=value>',
      'a variable for the process of the server; NAME alone stands for NAME=${NAME}. You can repeat this option',
      collect,
    )
    .option('--header <NAME=value>', 'a header for --url. You can repeat this option', collect)
    .option('--cwd <folder>', 'the folder that the server runs in (default: the folder of the bundle)')
    .option('--force', 'replace a server with the same name')
    .bundleOptions()
    .examples(
      'gdn mcp add github --env GITHUB_TOKEN -- npx -y @modelcontextprotocol/server-github',
      "gdn mcp add tickets --url https://mcp.example.com/mcp --header 'Authorization=Bearer ${TOKEN}'",
    )
    .readsBundle('use')
    .runs(addServer);

  group
    .command('list')
    .summary('list servers')
    .description(
      'Lists the servers in .mcp.json and the agents that use them. Values of variables and headers are not shown.',
    )
    .bundleOptions()
    .examples('gdn mcp list --bundle my-swarm')
    .readsBundle('look')
    .runs(showServers);

  group
    .command('remove')
    .argument('<name>', 'the name of the server')
    .summary('remove a server')
    .description('Removes a server from the .mcp.json of the bundle.')
    .bundleOptions()
    .examples('gdn mcp remove files --bundle my-swarm')
    .readsBundle('use')
    .runs(removeServer);

  const test = group
    .command('test')
    .argument('<name>', 'the name of the extension in its agent, or a server of .mcp.json')
    .summary('connect to a server and list its tools')
    .description(
      'Starts a server as its agent would, lists its tools, calls one with --call, and ends it. The time limits ' +
        'are those of `timeouts` in its config; the defaults are 30 seconds to connect, 15 to list and 60 to call. ' +
        'Exits with 1 when the server cannot be reached or the call fails.',
    )
    .option('--agent <name>', 'the agent whose config and environment to use, when several use the name')
    .option('--call <tool>', 'a tool to call')
    .option('--args <json>', 'the arguments for that tool, a JSON object (default: {})')
    .option('--trust', 'start the server without asking, for this run only')
    .bundleOptions()
    .examples('gdn mcp test notes --bundle my-swarm', `gdn mcp test notes --call search --args '{"word": "flour"}'`)
    .readsBundle('use')
    .runs((options: Partial<TestRequest>, terminal, name: string) => {
      if (options.args !== undefined && options.call === undefined) test.error("option '--args' needs option '--call'");
      const { trust = false } = options;
      return showTest({ ...options, name, trust, folder: bundleFolder(undefined, options) }, terminal);
    });

  group
    .command('approve')
    .argument('<name>', 'the name of the extension in its agent')
    .argument('[tool...]', 'the tools to approve')
    .summary('approve tools that are withheld')
    .description(
      'A tool that changed since it was first seen is withheld from the model. Without arguments this command ' +
        'lists the withheld tools. With tool names, or --all, it writes their fingerprints into .mcp.lock.json of ' +
        'the bundle; the tools are offered again from the next turn.',
    )
    .option('--all', 'all withheld tools')
    .swarmOptions()
    .examples('gdn mcp approve github create_issue --bundle my-swarm')
    .readsBundle('use')
    .runs(approveTools);

  addSignInCommands(group);
}

function addSignInCommands(group: GdnCommand): void {
  group
    .command('login')
    .argument('<name>', 'the name of the extension in its agent, or a server of .mcp.json')
    .summary('sign in to a server')
    .description(
      'Prints an address, waits until you have signed in there, and stores the tokens below the state root. In a ' +
        'terminal on a machine with a desktop, the address is also opened in the browser. If your browser is on another ' +
        'machine, paste the address of the last page. A running agent uses the new sign-in with its next call. A server ' +
        'with `grant: client_credentials` needs no person.',
    )
    .option('--agent <name>', 'the agent whose config and environment to use, when several use the name')
    .option(
      '--scope <scope>',
      'a scope to ask for, besides those that the server demands. You can repeat this option',
      collect,
    )
    .option('--no-open', 'print the address only')
    .option('--trust', 'trust the bundle without asking, for this run only')
    .bundleOptions()
    .examples('gdn mcp login tickets --bundle my-swarm', 'gdn mcp login tickets --scope tickets:write')
    .readsBundle('use')
    .runs(async (options: Partial<LoginRequest>, terminal, name: string) => {
      const { login } = await import('../mcp/sign-in-commands.ts');
      return withInterrupt((signal) => login(signInRequest(options), name, terminal, signal), stopSignals);
    });

  group
    .command('logout')
    .argument('<name>', 'the name of the extension in its agent, or a server of .mcp.json')
    .summary('sign out of a server')
    .description(
      'Revokes the tokens at the authorization server, if it offers that, and removes them from this machine.',
    )
    .option('--agent <name>', 'the agent whose config and environment to use, when several use the name')
    .option('--trust', 'trust the bundle without asking, for this run only')
    .bundleOptions()
    .examples('gdn mcp logout tickets --bundle my-swarm')
    .readsBundle('use')
    .runs(async (options: Partial<LoginRequest>, terminal, name: string) => {
      const { logout } = await import('../mcp/sign-in-commands.ts');
      return withInterrupt((signal) => logout(signInRequest(options), name, terminal, signal), stopSignals);
    });

  group
    .command('status')
    .argument('[name]', 'the name of the extension in its agent, or a server of .mcp.json')
    .summary('show who is signed in')
    .description(
      'Shows for each server over HTTP whether you are signed in, at which authorization server, with which scopes and ' +
        'until when. Tokens are not shown.',
    )
    .option('--agent <name>', 'the agent whose config and environment to use, when several use the name')
    .bundleOptions()
    .examples('gdn mcp status --bundle my-swarm')
    .readsBundle('look')
    .runs(async (options: Partial<LoginRequest>, terminal, name: string | undefined) => {
      const { status } = await import('../mcp/sign-in-commands.ts');
      return status(signInRequest(options), name, terminal);
    });
}

function signInRequest(options: Partial<LoginRequest>): LoginRequest {
  const { trust = false } = options;
  return { ...options, trust, folder: bundleFolder(undefined, options), workdir: process.cwd() };
}

async function showTest(request: Omit<TestRequest, 'workdir'>, terminal: Terminal): Promise<Result> {
  const { testServer, describeTest } = await import('../mcp/test-server.ts');
  const here = { ...request, workdir: process.cwd() };
  const tested = await withInterrupt((signal) => testServer(here, terminal, signal), stopSignals);
  return { json: tested, text: describeTest(tested) };
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

async function addServer(
  options: BundleOptions & AddOptions & { readonly force?: boolean },
  _terminal: Terminal,
  name: string,
  command: readonly string[],
): Promise<Result> {
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
  const shown = entry.type === 'http' ? entry.url : [entry.command, ...(entry.args ?? [])].join(' ');
  const next = `${usedBy.length === 0 ? declaration(name, bundle) : ''}${needs.length > 0 ? environment(needs) : ''}`;
  return { json: { name, file, entry, needs, usedBy }, text: `Added "${name}" to ${file}: ${shown}\n${next}` };
}

function declaration(name: string, { scope }: Bundle): string {
  // The short form would mean the bundle's own extension of that name.
  const hasOwn = scope.declared.has('Extension/mcp');
  const reference = hasOwn ? "{ kind: Extension, name: mcp, package: '@goondan/base' }" : 'Extension/mcp';
  return (
    '\nNothing in the bundle uses it yet. Give it to an agent, in its `extensions`:\n\n' +
    `  - ref: ${reference}\n    as: ${name}\n`
  );
}

function environment(needs: readonly string[]): string {
  const lines = needs.map((name) => `  ${name}: { valueFrom: { env: ${name} } }\n`);
  return `\nAn agent sees only what it declares. In its \`environment\`:\n\n${lines.join('')}`;
}

async function showServers(options: BundleOptions, { colors }: Terminal): Promise<Result> {
  const [{ readBundle }, { listServers }] = await Promise.all([
    import('../bundle/open-bundle.ts'),
    import('../mcp/list-servers.ts'),
  ]);
  const servers = await listServers(await readBundle(bundleFolder(undefined, options)));
  const shown = servers.map(({ name, command, args = [], url, usedBy, problem }) => {
    const users = usedBy.length === 0 ? 'used by nobody' : `used by ${usedBy.join(', ')}`;
    return `${colors.bold(name)}  ${problem ?? url ?? [command, ...args].join(' ')}  (${users})\n`;
  });
  return { json: servers, text: shown.join('') || 'There are no MCP servers. Add one with `gdn mcp add`.\n' };
}

async function removeServer(options: BundleOptions, _terminal: Terminal, name: string): Promise<Result> {
  const [{ readBundle }, edit, { serverUsers }] = await Promise.all([
    import('../bundle/open-bundle.ts'),
    import('../mcp/edit-mcp-file.ts'),
    import('../mcp/server-users.ts'),
  ]);
  const bundle = await readBundle(bundleFolder(undefined, options));
  const file = await edit.removeServer(bundle.folder, name);
  const usedBy = serverUsers(bundle, name);
  const still = usedBy.length === 0 ? '' : `Still in the extensions of: ${usedBy.join(', ')}.\n`;
  return { json: { name, file, usedBy }, text: `Removed "${name}" from ${file}.\n${still}` };
}

async function approveTools(
  options: BundleOptions & { readonly all?: boolean },
  { colors }: Terminal,
  name: string,
  tools: readonly string[],
): Promise<Result> {
  const [{ readBundle }, { placeOfSwarm }, work, { refuseAgents }] = await Promise.all([
    import('../bundle/open-bundle.ts'),
    import('../swarm/reach-swarm.ts'),
    import('../mcp/approve-tools.ts'),
    import('../question/refuse-agents.ts'),
  ]);
  const isQuestion = tools.length === 0 && options.all !== true;
  if (!isQuestion) refuseAgents('mcp approve');
  const { folder } = await readBundle(bundleFolder(undefined, options));
  const withheld = await work.findWithheld(await placeOfSwarm(options), folder, name);
  const { file, approved } = isQuestion
    ? { file: undefined, approved: [] }
    : await work.approveTools(folder, name, withheld, tools);
  const json = { name, withheld, approved: approved.map(({ tool }) => tool) };
  if (!isQuestion) return { json, text: `Approved in ${file ?? ''}: ${json.approved.join(', ')}\n` };
  if (withheld.length === 0) return { json, text: `No tool of "${name}" waits for approval.\n` };
  const { cleanText } = await import('@goondan/base/mcp');
  const shown = withheld.map(({ tool, reason, description }) => {
    const text = cleanText(description, 1_000).replaceAll('\n', '\n    ');
    return `${colors.bold(cleanText(tool, 256))}  (${reason})\n    ${text}\n`;
  });
  return { json, text: `${shown.join('')}\nTo approve: gdn mcp approve ${name} <tool…>, or --all\n` };
}
