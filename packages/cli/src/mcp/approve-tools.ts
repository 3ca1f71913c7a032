/**
 * Finds and approves the withheld tools of MCP servers. The state of each `mcp` extension lists its withheld tools. An
 * approval is written to `.mcp.lock.json` in the bundle, where every instance reads it. No server is called, and no
 * code of the bundle runs.
 */
import { join } from 'node:path';
import { APPROVALS_FILE, readApprovalsFile, readWithheld, type WithheldTool } from '@goondan/base/mcp';
import { GoondanError, type JsonObject } from '@goondan/types';
import { listInstances, readInstance } from '../instance/read-instances.ts';
import type { SwarmPlace } from '../swarm/swarm-place.ts';
import { writeJson } from './edit-mcp-file.ts';

/**
 * Lists the tools of one extension that are withheld in any instance and not approved, each in the version seen last.
 */
export async function findWithheld(place: SwarmPlace, folder: string, extension: string): Promise<WithheldTool[]> {
  const instances = (await listInstances(place)).toSorted((one, other) =>
    (one.updatedAt ?? '') < (other.updatedAt ?? '') ? -1 : 1,
  );
  const found = new Map<string, WithheldTool>();
  for (const { agent: agentName, instanceKey } of instances) {
    const { extensionState } = await readInstance(place, { agentName, instanceKey });
    const state = Object.hasOwn(extensionState, extension) ? extensionState[extension] : undefined;
    for (const tool of readWithheld(state ?? null)) found.set(tool.tool, tool);
  }
  const approved = approvedOf(await readApprovalsFile(folder), extension);
  return [...found.values()].filter(({ tool, fingerprint }) => approved[tool] !== fingerprint);
}

/** Approves tools, and returns the path of the file with the approvals. **Errors** — `E_MCP_UNKNOWN`, `E_MCP_FILE`. */
export async function approveTools(
  folder: string,
  extension: string,
  withheld: readonly WithheldTool[],
  wanted: readonly string[],
): Promise<{ readonly file: string; readonly approved: readonly WithheldTool[] }> {
  const unknown = wanted.find((name) => !withheld.some(({ tool }) => tool === name));
  if (unknown !== undefined) {
    const names = withheld.map(({ tool }) => tool).join(', ') || 'none';
    throw new GoondanError(
      'E_MCP_UNKNOWN',
      `No tool "${unknown}" of "${extension}" waits for approval. Waiting: ${names}.`,
    );
  }
  const chosen = wanted.length === 0 ? withheld : withheld.filter(({ tool }) => wanted.includes(tool));
  const file = await readApprovalsFile(folder);
  const before = approvedOf(file, extension);
  const fingerprints = Object.fromEntries(chosen.map(({ tool, fingerprint }) => [tool, fingerprint]));
  const path = join(folder, APPROVALS_FILE);
  const approved = { ...(file.approved as JsonObject | undefined), [extension]: { ...before, ...fingerprints } };
  await writeJson(path, { ...file, approved });
  return { file: path, approved: chosen };
}

function approvedOf({ approved }: JsonObject, extension: string): JsonObject {
  // The cast is safe: the file was checked when it was read.
  const all = (approved ?? {}) as JsonObject;
  return (Object.hasOwn(all, extension) ? all[extension] : {}) as JsonObject;
}
