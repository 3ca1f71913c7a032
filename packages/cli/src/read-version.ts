import { readFileSync } from 'node:fs';

/** Returns the version of this `gdn`. */
export function readVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { version }: { version: string } = JSON.parse(manifest);
  return version;
}
