import { join } from 'node:path';
import type { Bundle } from '@goondan/runtime/bundle';
import { checkEntry, MCP_FILE, readMcpFile, type ServerEntry, serversOf } from '@goondan/base/mcp';
import { GoondanError } from '@goondan/types';
import { serverUsers } from './server-users.ts';
import { variablesOf } from './read-entry.ts';

/**
 * An item of `gdn mcp list --json`. Fields may be added, but are never renamed. Values that may be secrets are left
 * out.
 */
export interface ListedServer {
  readonly name: string;
  readonly type?: 'stdio' | 'http';
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
  /** Names of the variables or headers that the entry sets. */
  readonly declares?: readonly string[];
  /** Names of the variables that must be set to use the server. */
  readonly needs?: readonly string[];
  readonly usedBy: readonly string[];
  /** Why the server cannot be used; absent when it can be used. */
  readonly problem?: string;
}

/** Lists the servers in the order of the file. **Errors** — `E_MCP_FILE`. */
export async function listServers(bundle: Bundle): Promise<ListedServer[]> {
  const path = join(bundle.folder, MCP_FILE);
  const servers = serversOf((await readMcpFile(path)) ?? {});
  return Object.keys(servers).map((name) => {
    const usedBy = serverUsers(bundle, name);
    try {
      const entry = checkEntry(path, name, servers[name]);
      return { name, ...describe(entry), needs: variablesOf(entry), usedBy };
    } catch (error) {
      if (!GoondanError.is(error)) throw error;
      return { name, usedBy, problem: error.message };
    }
  });
}

function describe(entry: ServerEntry): Omit<ListedServer, 'name' | 'usedBy'> {
  if (entry.type === 'http') return { type: 'http', url: entry.url, declares: Object.keys(entry.headers ?? {}) };
  const { command, args = [], env = {} } = entry;
  return { type: 'stdio', command, args, declares: Object.keys(env) };
}
