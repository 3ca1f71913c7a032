import { expect, test } from 'bun:test';
import { findReleaseProblems, type ReleaseState } from './check-release.ts';

const manifest = (version: string, types = version) =>
  JSON.stringify({ version, dependencies: { '@goondan/types': types } });

const ready: ReleaseState = {
  manifests: { 'package.json': manifest('1.2.0'), 'packages/cli/package.json': manifest('1.2.0') },
  changelog:
    '# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-16\n\n- New.\n\n## [1.1.0] - 2026-10-01\n\n- Old.\n',
  changes: '',
};

test('a commit with one version, its changelog entry and a clean tree can be released', () => {
  expect(findReleaseProblems(ready)).toEqual([]);
});

test.each<[string, Partial<ReleaseState>, RegExp]>([
  [
    'a package of another version',
    { manifests: { ...ready.manifests, 'packages/base/package.json': manifest('1.1.0', '1.2.0') } },
    /^packages\/base\/package\.json: version is 1\.1\.0,/,
  ],
  [
    'a dependency of another version',
    { manifests: { ...ready.manifests, 'packages/base/package.json': manifest('1.2.0', '1.1.0') } },
    /^packages\/base\/package\.json: @goondan\/types is 1\.1\.0,/,
  ],
  ['no changelog entry', { changelog: '## [1.1.0] - 2026-10-01\n\n- Old.\n' }, /has no entry for 1\.2\.0/],
  ['an entry without a date', { changelog: '## [1.2.0]\n\n- New.\n' }, /1\.2\.0 has no date/],
  ['an empty entry', { changelog: '## [1.2.0] - 2026-11-16\n\n## [1.1.0] - 2026-10-01\n\n- Old.\n' }, /is empty/],
  [
    'lines left under [Unreleased]',
    { changelog: ready.changelog.replace('ed]\n', 'ed]\n\n- Late.\n') },
    /is not empty/,
  ],
  ['changes that are not committed', { changes: ' M README.md\n' }, /not committed:\n M README\.md$/],
])('%s is a problem', (_, change, problem) => {
  const found = findReleaseProblems({ ...ready, ...change });
  expect(found).toEqual([expect.stringMatching(problem)]);
});

test('all problems are reported at once', () => {
  expect(findReleaseProblems({ ...ready, changelog: '', changes: '?? a' })).toHaveLength(2);
});
