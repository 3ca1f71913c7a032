import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the licences of the packages whose files are bundled. `inputs` are paths below the repository. */
export function readLicenses(repository: string, inputs: readonly string[]): string {
  const packages = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  return [...packages]
    .toSorted()
    .map((folder) => `${folder.replace(/^.*node_modules\//, '')}\n\n${readLicense(repository, folder)}`)
    .join('\n\n');
}

function readLicense(repository: string, folder: string): string {
  const name = readdirSync(join(repository, folder)).find((each) => /^licen[cs]e/i.test(each));
  if (name !== undefined) return readFileSync(join(repository, folder, name), 'utf8');
  const { license } = JSON.parse(readFileSync(join(repository, folder, 'package.json'), 'utf8'));
  // Some packages only name their licence. This one is the licence of the repository.
  if (license !== 'Apache-2.0') throw new Error(`${folder} has no licence`);
  return readFileSync(join(repository, 'LICENSE'), 'utf8');
}
