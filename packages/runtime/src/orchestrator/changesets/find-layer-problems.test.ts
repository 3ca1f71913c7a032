import { describe, expect, test } from 'bun:test';
import type { LayerSummary } from '../../ipc/from-agent.ts';
import { findLayerProblems } from './find-layer-problems.ts';
import { KnownLayers } from './known-layers.ts';

const layer = (extension: string, priority: number, more: Partial<LayerSummary> = {}): LayerSummary => ({
  kind: 'toolCall',
  extension,
  name: extension,
  tier: 'agent',
  priority,
  mayShortCircuit: false,
  onError: 'fail',
  buffers: false,
  ...more,
});

const problems = (added: LayerSummary, existing: LayerSummary[]) =>
  findLayerProblems('coder', { added: [added], existing });

describe('a layer of a new extension', () => {
  test('L-05 must not be outside of a layer that the agent has', () => {
    const guard = layer('approval', 10);
    expect(problems(layer('new', 9), [layer('first', 0), guard])).toEqual([
      'Layer "new" (toolCall) of the new extension "new" of agent "coder" has priority 9 and would be outside of layer "approval" of "approval". Give it priority 10 or higher.',
    ]);
    expect(problems(layer('new', 10), [layer('first', 0), guard])).toEqual([]);
    expect(problems(layer('new', 11), [guard])).toEqual([]);
  });

  test('is compared with layers of its kind, and not with hooks and swarm-wide extensions', () => {
    const others = [layer('a', 9, { kind: 'turn' }), layer('b', 9, { tier: 'hook' }), layer('c', 9, { tier: 'swarm' })];
    expect(problems(layer('new', 0), others)).toEqual([]);
  });

  test.each(['swarm', 'hook'] as const)('may not be of tier %s', (tier) => {
    expect(problems(layer('new', 99, { tier }), [])).toHaveLength(1);
  });
});

test('the layers of an agent are known when each of its extensions was described', () => {
  const extension = (name: string) => ({
    resource: {
      apiVersion: 'goondan.ai/v1',
      kind: 'Extension',
      metadata: { name },
      spec: { entry: './x.ts' },
    } as const,
    root: '/',
  });
  const agent = { agentName: 'coder', extensions: [extension('a'), extension('b')] };
  const known = new KnownLayers();
  expect(known.of({ agentName: 'coder' })).toEqual([]);
  expect(known.of(agent)).toBeUndefined();
  known.learn('coder', { extensions: ['a'], layers: [layer('a', 1)] });
  known.learn('other', { extensions: ['b'], layers: [layer('b', 1)] });
  expect(known.of(agent)).toBeUndefined();
  known.learn('coder', { extensions: ['b'], layers: [] });
  expect(known.of(agent)).toEqual([layer('a', 1)]);
  known.learn('coder', { extensions: ['a'], layers: [layer('a', 2)] });
  expect(known.of(agent)).toEqual([layer('a', 2)]);
});
