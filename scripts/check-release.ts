/**
 * `npm run pack -- release`: checks whether this commit can be released. Prints every problem; if there is none, packs
 * the tarballs to publish (`npm run pack`).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ReleaseState {
  /** The text of every `package.json` by its path. The path of the repository's own is `package.json`. */
  readonly manifests: Readonly<Record<string, string>>;
  readonly changelog: string;
  /** Output of `git status --porcelain`. */
  readonly changes: string;
}

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Lists the reasons not to release. The list is empty when there are none. */
export function findReleaseProblems({ manifests, changelog, changes }: ReleaseState): string[] {
  const read = Object.entries(manifests).map(([path, text]): [string, Manifest] => [path, JSON.parse(text)]);
  const version = read.find(([path]) => path === 'package.json')?.[1].version ?? '';
  return [
    ...read.flatMap(([path, manifest]) => findOtherVersions(path, manifest, version)),
    ...findChangelogProblems(changelog, version),
    ...(changes.trim() === '' ? [] : [`The tree has changes that are not committed:\n${changes.trimEnd()}`]),
  ];
}

function findOtherVersions(path: string, manifest: Manifest, version: string): string[] {
  const named = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  const ours = named.filter(([name]) => name.startsWith('@goondan/'));
  return [['version', manifest.version], ...ours]
    .filter(([, found]) => found !== version)
    .map(([what, found]) => `${path}: ${what} is ${found}, and the repository's version is ${version}.`);
}

/** Checks that the entry of the version has a date and a text, and that no unreleased entry is above it. */
function findChangelogProblems(changelog: string, version: string): string[] {
  const sections = changelog.split(/^## /m).slice(1);
  const textOf = (section = '') => section.slice(section.indexOf('\n')).trim();
  const entry = sections.find((section) => section.startsWith(`[${version}]`));
  const unreleased = sections.find((section) => section.startsWith('[Unreleased]'));
  const problems: string[] = [];
  if (entry === undefined) problems.push(`CHANGELOG.md has no entry for ${version}: write "## [${version}] - DATE".`);
  else if (!/^\[[^\]]+\] - \d{4}-\d\d-\d\d\n/.test(entry)) problems.push(`CHANGELOG.md: ${version} has no date.`);
  if (entry !== undefined && textOf(entry) === '') problems.push(`CHANGELOG.md: the entry for ${version} is empty.`);
  if (textOf(unreleased) !== '') {
    problems.push(`CHANGELOG.md: [Unreleased] is not empty. Move its lines under ${version}.`);
  }
  return problems;
}

async function readState(repository: string): Promise<ReleaseState> {
  const paths = ['package.json', ...new Bun.Glob('packages/*/package.json').scanSync(repository)].toSorted();
  const read = (path: string) => readFileSync(join(repository, path), 'utf8');
  return {
    manifests: Object.fromEntries(paths.map((path) => [path, read(path)])),
    changelog: read('CHANGELOG.md'),
    changes: await Bun.$`git -C ${repository} status --porcelain`.text(),
  };
}

if (import.meta.main) {
  const problems = findReleaseProblems(await readState(join(import.meta.dir, '..')));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
