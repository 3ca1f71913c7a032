/** Resolves the declaration of a server: reads the file, inserts the variables, makes paths absolute. */
import { isAbsolute, join, resolve } from 'node:path';
import { GoondanError } from '@goondan/types';
import { expandVariables } from './expand-variables.ts';
import { checkEntry, MCP_FILE, readMcpFile, serversOf } from './mcp-file.ts';
import type { McpSettings, TransportConfig } from './mcp-settings.ts';
import { childEnvironment, type Environment } from '../../process-tree/child-environment.ts';
import { hasToken, type HttpTarget, type ServerTarget } from './server-target.ts';
import { CLEAR_TEXT, keepsSecrets } from './sign-in/clear-text.ts';
import { findProblem, type OauthSettings } from './sign-in/oauth-settings.ts';
import { signInPlace } from './sign-in/sign-in-file.ts';

/** Further variables that a server process gets, because servers use the network and start shells. */
const serverVariables: readonly string[] = [
  'SHELL',
  'LANGUAGE',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

export interface Surroundings {
  readonly bundleFolder: string;
  readonly workdir: string;
  /** The variables of the agent process: the standard ones, and those that the agent's resource declares. */
  readonly environment: Environment;
}

/** **Errors** — `E_MCP_FILE`, `E_MCP_VARIABLE`. */
export async function resolveTarget(
  settings: Pick<McpSettings, 'transport' | 'file'>,
  around: Surroundings,
): Promise<ServerTarget> {
  const { transport, file } = settings;
  if (transport !== undefined) return complete(transport, around.bundleFolder, around, 'transport');
  const folder = file.folder === 'bundle' ? around.bundleFolder : around.workdir;
  const path = join(folder, MCP_FILE);
  const where = `${path}: mcpServers.${file.server}`;
  return complete(await readTransport(path, file.server), folder, around, where);
}

async function readTransport(path: string, server: string): Promise<TransportConfig> {
  const file = await readMcpFile(path);
  if (file === undefined) {
    throw new GoondanError('E_MCP_FILE', `There is no file ${path}, which should describe the server "${server}".`);
  }
  const servers = serversOf(file);
  if (!Object.hasOwn(servers, server)) {
    const names = Object.keys(servers).slice(0, 20).join(', ') || 'none';
    throw new GoondanError('E_MCP_FILE', `${path} names no server "${server}". It has: ${names}.`);
  }
  const entry = checkEntry(path, server, servers[server]);
  return entry.type === 'http' ? entry : { ...entry, type: 'stdio' };
}

/** `where`: the place of the declaration, for errors. */
function complete(transport: TransportConfig, folder: string, around: Surroundings, where: string): ServerTarget {
  const missing = new Set<string>();
  const lookUp = (name: string) => {
    if (name === 'GOONDAN_BUNDLE') return around.bundleFolder;
    if (name === 'GOONDAN_WORKDIR') return around.workdir;
    return Object.hasOwn(around.environment, name) ? around.environment[name] : undefined;
  };
  const expand = (text: string) => expandVariables(text, lookUp, missing);
  const expandEach = (texts: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, expand(text)]));
  const target = toTarget();
  if (missing.size > 0) {
    const names = [...missing].join(', ');
    throw new GoondanError('E_MCP_VARIABLE', `The MCP server needs variables that are not set: ${names}.`);
  }
  if (target.type !== 'http') return target;
  checkUrl(target.url);
  if (target.oauth === undefined || keepsSecrets(target.url)) return target;
  if (transport.type === 'http' && transport.oauth !== undefined) throw clearText(where);
  // The server may work without a sign-in.
  const { oauth: _, ...open } = target;
  return open;

  /** A server that gets an `Authorization` header needs no sign-in. */
  function toOauth(
    oauth: OauthSettings | false | undefined,
    url: string,
    headers: Readonly<Record<string, string>>,
  ): HttpTarget['oauth'] {
    if (oauth === false || (oauth === undefined && hasToken(headers))) return undefined;
    const problem = findProblem(oauth ?? {});
    if (problem !== undefined)
      throw new GoondanError('E_MCP_FILE', `The MCP server cannot be used: ${where}${problem}.`);
    const texts = Object.entries(oauth ?? {}).map(([key, value]) => [
      key,
      typeof value === 'string' ? expand(value) : value,
    ]);
    const place = signInPlace(url, around.bundleFolder, around.environment);
    return { ...Object.fromEntries(texts), place };
  }

  function toTarget(): ServerTarget {
    if (transport.type === 'http') {
      const { protocol = 'auto' } = transport;
      const [url, headers] = [expand(transport.url), expandEach(transport.headers)];
      const oauth = toOauth(transport.oauth, url, headers);
      return { type: 'http', url, headers, protocol, ...(oauth === undefined ? {} : { oauth }) };
    }
    const [first = '', ...more] = typeof transport.command === 'string' ? [transport.command] : transport.command;
    const { args = [], env, cwd: wanted = '.', protocol = 'legacy' } = transport;
    const cwd = resolve(folder, expand(wanted));
    const command = expand(first);
    return {
      type: 'stdio',
      // A command with a slash is a path; a name without a slash is searched in PATH.
      command: command.includes('/') && !isAbsolute(command) ? resolve(cwd, command) : command,
      args: [...more, ...args].map(expand),
      environment: childEnvironment(around.environment, expandEach(env), serverVariables),
      cwd,
      protocol,
    };
  }
}

function clearText(where: string): GoondanError {
  const message = `The MCP server cannot be used: ${where}.oauth declares a sign-in, but ${CLEAR_TEXT}.`;
  return new GoondanError('E_MCP_FILE', message, {
    suggestion: `Write an https address into ${where}.url. Only a server of this machine may have http: localhost, 127.0.0.1, [::1].`,
  });
}

function checkUrl(url: string): void {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return;
  throw new GoondanError('E_MCP_FILE', 'The url of the MCP server is not an http(s) URL.', {
    suggestion: 'Write the full URL, for example https://mcp.example.com/mcp.',
  });
}
