/** Edits the `.mcp.json` of a bundle atomically, and keeps everything else in the file. */
import { realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MCP_FILE, readMcpFile, type ServerEntry, serversOf } from '@goondan/base/mcp';
import { GoondanError, type JsonObject, type JsonValue } from '@goondan/types';

/** Adds a server, and returns the path of the file. **Errors** — `E_MCP_EXISTS`, `E_MCP_FILE`. */
export async function addServer(folder: string, name: string, entry: ServerEntry, force: boolean): Promise<string> {
  const path = join(folder, MCP_FILE);
  const file = (await readMcpFile(path)) ?? {};
  const servers = serversOf(file);
  if (Object.hasOwn(servers, name) && !force) {
    throw new GoondanError('E_MCP_EXISTS', `${path} has a server "${name}" already.`);
  }
  // The cast is safe: the entry is written as JSON, and checked when it is read.
  await writeJson(path, { ...file, mcpServers: { ...servers, [name]: entry as unknown as JsonValue } });
  return path;
}

/** Removes a server, and returns the path of the file. **Errors** — `E_MCP_UNKNOWN`, `E_MCP_FILE`. */
export async function removeServer(folder: string, name: string): Promise<string> {
  const path = join(folder, MCP_FILE);
  const file = (await readMcpFile(path)) ?? {};
  const { [name]: removed, ...others } = serversOf(file);
  if (removed === undefined) {
    const names = Object.keys(others).join(', ') || 'none';
    throw new GoondanError('E_MCP_UNKNOWN', `There is no server "${name}" in ${path}. Servers: ${names}.`);
  }
  await writeJson(path, { ...file, mcpServers: others });
  return path;
}

export async function writeJson(path: string, value: JsonObject): Promise<void> {
  // If the file is a symbolic link, its target is replaced and the link stays.
  const target = await realpath(path).catch(() => path);
  const draft = `${target}.${process.pid}.tmp`;
  try {
    await Bun.write(draft, `${JSON.stringify(value, undefined, 2)}\n`);
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
}
