/**
 * Packs a bundle for a deployment, and unpacks it at a node. Values of the environment, keys, installed packages, the files
 * of Git and caches are not part of a bundle: every node has its own.
 */
import { realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { GoondanError } from '@goondan/types';
import { packFolder, type PackedFolder, type PackLimits, unpackFolder } from './pack-folder.ts';

/** A larger bundle has data that does not belong to it. */
export const bundleLimits: PackLimits = { mostFiles: 10_000, mostBytes: 64 * 1024 * 1024 };

const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '.goondan', '.cache', '.DS_Store', 'node_modules']);
/** Files in which programs keep passwords, tokens and private keys. */
const SECRET_FILES = /^(?:\.env.*|\.npmrc|\.netrc|\.pgpass|\.ssh|.*\.(?:pem|key|p12|pfx))$/is;

function isLeftOut(name: string): boolean {
  return LEFT_OUT.has(name) || SECRET_FILES.test(name);
}

/** The parts of a folder that are never deployed. */
export interface KeptOut {
  /** Files and folders that are left out, such as a state root inside the bundle. They need not exist. */
  readonly paths?: readonly string[];
  /** Texts that no packed file may contain, such as the token of the cluster. */
  readonly secrets?: readonly string[];
}

/** **Errors** — `E_BUNDLE_SECRET` when a file contains one of the secrets; those of `packFolder`. */
export function packBundle(folder: string, { paths = [], secrets = [] }: KeptOut = {}): PackedFolder {
  const root = realPath(folder);
  const leftOut = new Set(paths.map((path) => relative(root, realPath(path)).split(sep).join('/')));
  const refuseSecrets = (path: string, content: Buffer) => {
    if (!secrets.some((secret) => secret !== '' && content.includes(secret))) return;
    const message = `${path} contains the token of the cluster or the password of the database, so the bundle is not deployed.`;
    throw new GoondanError('E_BUNDLE_SECRET', message);
  };
  return packFolder(folder, bundleLimits, (name, path) => isLeftOut(name) || leftOut.has(path), refuseSecrets);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Makes the folder hold exactly this bundle, and returns its digest. **Errors** — those of `unpackFolder`. */
export function unpackBundle(bytes: Uint8Array, folder: string): string {
  return unpackFolder(bytes, folder, bundleLimits, isLeftOut);
}
