/**
 * `.mcp.lock.json` in the folder of the bundle: the tools of MCP servers that a person has looked at, by their
 * fingerprints. It is written by `gdn mcp approve` and belongs into version control, so that every instance and every
 * machine trusts the same tools.
 */
import { join } from 'node:path';
import { GoondanError, type JsonObject } from '@goondan/types';
import type { Fingerprints } from './judge-tools.ts';

export const APPROVALS_FILE = '.mcp.lock.json';

/** `{"approved": {"extension": {"tool": "sha256:…"}}}`; `{}` when there is none. **Errors** — `E_MCP_FILE`. */
export async function readApprovalsFile(bundleFolder: string): Promise<JsonObject> {
  const path = join(bundleFolder, APPROVALS_FILE);
  const file = Bun.file(path);
  if (!(await file.exists())) return {};
  const value: unknown = await file.json().catch(() => undefined);
  if (isObject(value) && (value.approved === undefined || isObject(value.approved))) return value;
  // Not as if nothing were approved: then what has changed might pass as new.
  throw new GoondanError('E_MCP_FILE', `${path} cannot be used: it is not what \`gdn mcp approve\` writes.`);
}

/** Of one extension. */
export function approvedOf(file: JsonObject, extension: string): Fingerprints {
  const { approved } = file;
  const own = isObject(approved) && Object.hasOwn(approved, extension) ? approved[extension] : undefined;
  if (!isObject(own)) return new Map();
  return new Map(Object.entries(own).flatMap(([tool, value]) => (typeof value === 'string' ? [[tool, value]] : [])));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
