/**
 * Identifies a tool as it is now, for answers that a person gave for always: its name, description, schema and
 * annotations, and its provider. A tool with another fingerprint is asked about again.
 */
import type { JsonObject, JsonValue } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import { digestJson } from '../../json/digest-json.ts';
import { type Mask, maskJson } from '../../log/mask-secrets.ts';
import type { RegisteredTool } from './tool-registry.ts';

/** The parts of a declaration that identify the code of a tool. */
interface DeclaredCode {
  readonly root?: string;
  readonly entry?: string;
  readonly digest?: string;
}

/** Secrets are masked, so that a new token of a server is not another tool. */
export function toolFingerprint({ item, provider }: Pick<RegisteredTool, 'item' | 'provider'>, mask: Mask): string {
  // Safe: an item has only JSON values.
  return digestJson(maskJson({ item: item as unknown as JsonValue, provider }, mask));
}

/** Names the file of a part: relative to the folder of the bundle, or with its package before it. */
export function fileOf({ entry, package: name }: JsonObject): string | undefined {
  if (typeof entry !== 'string') return undefined;
  const file = entry.replace(/^\.\//, '');
  return typeof name === 'string' ? `${name}/${file}` : file;
}

export function withFile(what: string, code: JsonObject): string {
  const file = fileOf(code);
  return file === undefined ? what : `${what} (${file})`;
}

/** Identifies the code of a part by its file, its package and its hash. The folder of the bundle does not count. */
export function codeOf({ root, entry, digest }: DeclaredCode): JsonObject {
  return defined({ entry, digest, package: root?.split('/node_modules/').slice(1).at(-1) });
}
