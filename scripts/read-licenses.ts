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

/** The shortest text that can be a licence. */
const SHORTEST = 500;

function readLicense(repository: string, folder: string): string {
  const name = readdirSync(join(repository, folder)).find((each) => /^licen[cs]e/i.test(each));
  const own = name === undefined ? '' : readFileSync(join(repository, folder, name), 'utf8');
  if (own.length > SHORTEST) return own;
  const { license, author = '' } = JSON.parse(readFileSync(join(repository, folder, 'package.json'), 'utf8'));
  // Some packages only name their licence, or the place of its text. This one is the licence of the repository, with another owner.
  if (license !== 'Apache-2.0') throw new Error(`${folder} has no licence`);
  const text = readFileSync(join(repository, 'LICENSE'), 'utf8');
  return `Licensed under ${license}. ${author}\n\n${text.replace(/^.*Copyright \d{4} The Goondan Authors.*$\n?/m, '')}`;
}
