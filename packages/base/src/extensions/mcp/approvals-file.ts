/**
 * `.mcp.lock.json` in the folder of the bundle: the fingerprints of the MCP tools that a person has approved. `gdn mcp
 * approve` writes it. Keep it in version control, so that every instance and every machine trusts the same tools.
 */
import { join } from 'node:path';
import { GoondanError, type JsonObject } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import type { Fingerprints } from './judge-tools.ts';

export const APPROVALS_FILE = '.mcp.lock.json';

/** Reads `{"approved": {"extension": {"tool": "sha256:…"}}}`; `{}` when there is no file. **Errors** — `E_MCP_FILE`. */
export async function readApprovalsFile(bundleFolder: string): Promise<JsonObject> {
  const path = join(bundleFolder, APPROVALS_FILE);
  const file = Bun.file(path);
  if (!(await file.exists())) return {};
  const value: unknown = await file.json().catch(() => undefined);
  if (isObject(value) && (value.approved === undefined || isObject(value.approved))) return value;
  // An invalid file is not treated as empty, because a changed tool would then be accepted like a new tool.
  throw new GoondanError('E_MCP_FILE', `${path} cannot be used: it is not what \`gdn mcp approve\` writes.`);
}

/** Returns the approvals of one extension. */
export function approvedOf(file: JsonObject, extension: string): Fingerprints {
  const { approved } = file;
  const own = isObject(approved) && Object.hasOwn(approved, extension) ? approved[extension] : undefined;
  if (!isObject(own)) return new Map();
  return new Map(Object.entries(own).flatMap(([tool, value]) => (typeof value === 'string' ? [[tool, value]] : [])));
}
