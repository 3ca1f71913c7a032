// Checks that the bundle in docs/bundles.md loads.
import { describe, expect, test } from 'bun:test';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { resourceSchemas } from '../packages/runtime/src/config/bundle/kinds/resource-schemas.ts';
import { temporaryBundle } from '../packages/runtime/src/testing/temporary-bundle.ts';
import { readRepository } from './read-repository.ts';

const [page] = readRepository('docs/bundles.md');
const text = page?.text ?? '';
const examples = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, yaml = '']) => yaml);

describe('docs/bundles.md', () => {
  test('R-04 shows one bundle with every kind, and without problems', async () => {
    const modules = [...examples.join('').matchAll(/entry: (\S+)/g)].map(([, entry = '']) => [
      entry,
      'export default 1;\n',
    ]);
    using bundle = temporaryBundle({
      'goondan.yaml': examples.join('---\n'),
      'prompts/host.md': 'You are the host.\n',
      ...Object.fromEntries(modules),
    });
    const environment = { TEAM_KEY: 'a', LIBRARY_REGION: 'b', GUARD_TOKEN: 'c', SIGNING_KEY: 'd' };
    const loaded = await loadBundle(bundle.folder, { environment });
    expect({ errors: loaded.errors, warnings: loaded.warnings }).toEqual({ errors: [], warnings: [] });
    expect([...new Set<string>(loaded.resources.map(({ kind }) => kind))].toSorted()).toEqual(
      Object.keys(resourceSchemas).toSorted(),
    );
    expect(resolveSwarm(loaded, { environment }).plan.agents).toHaveLength(2);
  });
});
