/**
 * `.mcp.json`, the file in which MCP clients name their servers: `{"mcpServers": {"name": {…}}}`. The content is
 * untrusted until it is checked here. Keys that other clients use are kept.
 */
import { GoondanError, type JsonObject, type JsonValue } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import { checkOauth, type OauthSettings } from './sign-in/oauth-settings.ts';

export const MCP_FILE = '.mcp.json';

/** The maximum size of the file; a larger file is rejected. */
export const MOST_BYTES = 1_000_000;

export type ServerEntry = StdioEntry | HttpEntry;

export interface StdioEntry {
  readonly type?: 'stdio';
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface HttpEntry {
  readonly type: 'http';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How to sign in; `false` never signs in. */
  readonly oauth?: OauthSettings | false;
}

/** Returns `undefined` when the file does not exist. **Errors** — `E_MCP_FILE`. */
export async function readMcpFile(path: string): Promise<JsonObject | undefined> {
  const file = Bun.file(path);
  if (!(await file.exists())) return undefined;
  if (file.size > MOST_BYTES) throw malformed(path, `it is larger than ${MOST_BYTES} bytes`);
  let value: unknown;
  try {
    value = await file.json();
  } catch (error) {
    throw malformed(path, `it is not JSON (${error instanceof Error ? error.message : String(error)})`);
  }
  if (!isObject(value)) throw malformed(path, 'it is not an object');
  const { mcpServers } = value;
  if (mcpServers !== undefined && !isObject(mcpServers)) throw malformed(path, 'mcpServers is not an object');
  return value;
}

/** Returns the server entries by name, unchecked. */
export function serversOf(file: JsonObject): Readonly<Record<string, JsonValue>> {
  return isObject(file.mcpServers) ? file.mcpServers : {};
}

/** Checks the entry of one server. **Errors** — `E_MCP_FILE`, which names the problem of the entry. */
export function checkEntry(path: string, name: string, entry: JsonValue | undefined): ServerEntry {
  const refuse = (problem: string) => malformed(path, `mcpServers.${name}${problem}`);
  if (!isObject(entry)) throw refuse(' is no object');
  const { type, command, args, env, cwd, url, headers, oauth } = entry;
  if (type === 'sse') throw refuse('.type is "sse", a transport that servers have given up; use "http"');
  const isHttp =
    type === 'http' || type === 'streamable-http' || (type === undefined && command === undefined && url !== undefined);
  if (isHttp) {
    if (typeof url !== 'string' || url === '') throw refuse('.url is missing');
    if (headers !== undefined && !isTexts(headers)) throw refuse('.headers must map names to texts');
    return {
      type: 'http',
      url,
      ...(headers === undefined ? {} : { headers }),
      ...(oauth === undefined ? {} : { oauth: checkOauth(oauth, refuse) }),
    };
  }
  if (type !== undefined && type !== 'stdio') throw refuse('.type must be "stdio" or "http"');
  if (typeof command !== 'string' || command === '') throw refuse('.command is missing');
  if (args !== undefined && !isTextList(args)) throw refuse('.args must be a list of texts');
  if (env !== undefined && !isTexts(env)) throw refuse('.env must map names to texts');
  if (cwd !== undefined && typeof cwd !== 'string') throw refuse('.cwd must be a text');
  return {
    command,
    ...(args === undefined ? {} : { args }),
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

function malformed(path: string, problem: string): GoondanError {
  return new GoondanError('E_MCP_FILE', `${path} cannot be used: ${problem}.`);
}

function isTexts(value: JsonValue): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

function isTextList(value: JsonValue): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
