// Checks that the bundle in docs/bundles.md loads.
import { describe, expect, test } from 'bun:test';
import { loadBundle, planReconcile, resolveSwarm } from '@goondan/runtime/bundle';
import type { SwarmPlan } from '../packages/runtime/src/config/swarm-plan.ts';
import { resourceSchemas } from '../packages/runtime/src/config/bundle/kinds/resource-schemas.ts';
import { temporaryBundle } from '../packages/runtime/src/testing/temporary-bundle.ts';
import { readRepository } from './read-repository.ts';

const [page] = readRepository('docs/bundles.md');
const text = page?.text ?? '';
const [smallest = '', ...examples] = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, yaml = '']) => yaml);

const environment = { TEAM_KEY: 'a', LIBRARY_REGION: 'b', GUARD_TOKEN: 'c', SIGNING_KEY: 'd' };

async function loadPage() {
  const modules = [...examples.join('').matchAll(/entry: (\S+)/g)].map(([, entry = '']) => [
    entry,
    'export default 1;\n',
  ]);
  using bundle = temporaryBundle({
    'goondan.yaml': examples.join('---\n'),
    'prompts/host.md': 'You are the host.\n',
    ...Object.fromEntries(modules),
  });
  return await loadBundle(bundle.folder, { environment });
}

describe('docs/bundles.md', () => {
  test('begins with a bundle of eight lines, which is a swarm of its own', async () => {
    using bundle = temporaryBundle({ 'goondan.yaml': smallest });
    const environmentWithKey = { ANTHROPIC_API_KEY: 'a' };
    const loaded = await loadBundle(bundle.folder, { environment: environmentWithKey });
    expect({ errors: loaded.errors, warnings: loaded.warnings }).toEqual({ errors: [], warnings: [] });
    expect(resolveSwarm(loaded, { environment: environmentWithKey }).plan).toMatchObject({
      name: 'news',
      entryAgent: 'news',
    });
    expect(smallest.trim().split('\n')).toHaveLength(8);
  });

  test('shows one bundle with every kind, and without problems', async () => {
    const loaded = await loadPage();
    expect({ errors: loaded.errors, warnings: loaded.warnings }).toEqual({ errors: [], warnings: [] });
    expect([...new Set<string>(loaded.resources.map(({ kind }) => kind))].toSorted()).toEqual(
      Object.keys(resourceSchemas).toSorted(),
    );
    expect(resolveSwarm(loaded, { environment }).plan.agents).toHaveLength(2);
  });

  test('a reload of its bundle compares the order of extensions and tools, not of agents and connections', async () => {
    const { plan } = resolveSwarm(await loadPage(), { environment });
    const [host, ...others] = plan.agents;
    const [extension, ...rest] = host?.extensions ?? [];
    const [tool] = host?.tools ?? [];
    if (!host || !extension || !tool || rest.length === 0) throw new Error('The page has no agent with several parts.');
    const tools = [tool, { ...tool, name: 'other' }];
    const running: SwarmPlan = { ...plan, agents: [{ ...host, tools }, ...others] };
    const changedBy = (wanted: SwarmPlan) => planReconcile(running, wanted).changed;
    const withHost = (more: Partial<typeof host>) =>
      changedBy({ ...running, agents: [{ ...host, tools, ...more }, ...others] });

    const [agents, connections = []] = [running.agents.toReversed(), running.connections?.toReversed()];
    expect(changedBy({ ...running, agents, connections })).toEqual([]);
    expect(withHost({})).toEqual([]);
    for (const more of [
      { extensions: [...rest, extension] },
      { tools: tools.toReversed() },
      { systemPrompt: 'another' },
    ]) {
      expect(withHost(more)).toEqual(['Agent/host']);
    }
  });
});
