/** Compares files of conversations with those of the original state root, byte for byte. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspace } from './version.ts';

/** Tells whether the migration copies a file of a conversation as it is. */
export function isCopied(path: string): boolean {
  return /\/(?:messages\/runtime-events[.\d]*\.jsonl|traces\/.*|scratch\/.*)$/.test(path);
}

/** Returns a line for each of these files that is different, missing or new. */
export function compareFiles(before: string, after: string, isCompared: (path: string) => boolean): string[] {
  const names = new Set([...filesIn(before), ...filesIn(after)].filter(isCompared));
  return [...names].flatMap((name) => {
    const [one, other] = [before, after].map((root) => join(instancesIn(root), name));
    if (one === undefined || !existsSync(one)) return `${name} is new`;
    if (other === undefined || !existsSync(other)) return `${name} is missing`;
    return readFileSync(one).equals(readFileSync(other)) ? [] : `${name} is different`;
  });
}

/** The migration takes the lock of each conversation. A kill may leave a draft of it, so both are not compared. */
function filesIn(root: string): string[] {
  const entries = readdirSync(instancesIn(root), { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return paths
    .map((path) => path.slice(instancesIn(root).length))
    .filter((path) => !/\/lock(?:\.[\w.-]+)?$/.test(path));
}

function instancesIn(root: string): string {
  return join(root, 'workspaces', workspace, 'instances');
}
