import { describe, expect, test } from 'bun:test';
import { textOf } from '@goondan/types';
import type { ResourceDefinition } from './define-swarm.ts';
import { defineSwarm } from './define-swarm.ts';
import { startSwarm } from './start-swarm.ts';
import { temporaryBundle } from './testing/temporary-bundle.ts';

const resources: ResourceDefinition[] = [
  {
    kind: 'Model',
    metadata: { name: 'demo' },
    spec: {
      provider: 'scripted',
      model: 'demo',
      options: {
        script: [
          { when: 'add', call: { tool: 'sum__add', args: { a: 2, b: 3 } } },
          { afterTool: 'sum__add', say: 'It is {{result}}.' },
        ],
      },
    },
  },
  {
    kind: 'Tool',
    metadata: { name: 'sum' },
    spec: { entry: './sum.ts', exports: [{ name: 'add', description: 'Adds.' }] },
  },
  {
    kind: 'Agent',
    metadata: { name: 'clerk' },
    spec: { modelConfig: { modelRef: 'Model/demo' }, tools: [{ ref: 'Tool/sum' }] },
  },
  { kind: 'Swarm', metadata: { name: 'shop' }, spec: { entryAgent: 'Agent/clerk', agents: ['Agent/clerk'] } },
];
const files = { 'sum.ts': 'export const handlers = { add: (_ctx, { a, b }) => a + b };\n' };

describe('a swarm defined in code', () => {
  test('R-04 is checked like a bundle, and starts', async () => {
    using bundle = temporaryBundle(files);
    using state = temporaryBundle({});
    const defined = await defineSwarm({ folder: bundle.folder, resources });
    expect(defined).toMatchObject({ name: 'shop', entryAgent: 'clerk', bundleFolder: bundle.folder });
    const swarm = await startSwarm({ ...defined, stateRoot: state.folder, policy: { spares: 0 } });
    try {
      const { result } = await swarm.ask({ input: 'add' });
      expect(textOf(result.responseMessage)).toBe('It is 5.');
    } finally {
      await swarm.stop();
    }
  });

  test('R-04 is rejected with all its problems', async () => {
    using bundle = temporaryBundle(files);
    const wrong: ResourceDefinition[] = [
      ...resources,
      { kind: 'Extension', metadata: { name: 'log' }, spec: { entry: './log.ts' } },
      { kind: 'Agent', metadata: { name: 'other' }, spec: { modelConfig: { modelRef: 'Model/dmo' } } },
    ];
    const refused = await defineSwarm({ folder: bundle.folder, resources: wrong }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_BUNDLE_INVALID' });
    expect(String(refused)).toContain('defineSwarm:5:1 Extension/log: There is no file "./log.ts".');
    expect(String(refused)).toContain('defineSwarm:6:1 Agent/other: There is no Model/dmo.');
  });

  test('R-04 accepts nothing but JSON', async () => {
    using bundle = temporaryBundle(files);
    const config = { callback: () => 1 };
    // A function where JSON belongs: code that the type checker did not see.
    const wrong = {
      kind: 'Extension',
      metadata: { name: 'log' },
      spec: { entry: './sum.ts', config },
    } as unknown as ResourceDefinition;
    const refused = await defineSwarm({ folder: bundle.folder, resources: [wrong] }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_BUNDLE_INVALID', message: expect.stringContaining('Resource 1') });
  });
});
