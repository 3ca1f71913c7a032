// Tests `ctx.runtime` in a swarm of real processes, from a bundle.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RuntimeView, textOf } from '@goondan/types';
import { startSwarm } from './start-swarm.ts';
import { temporaryBundle } from './testing/temporary-bundle.ts';

setDefaultTimeout(60_000);

const resources = [
  'kind: Model, metadata: { name: demo }, spec: { provider: scripted, model: test-model, options: { script: [{ say: unused }] } }',
  'kind: Agent, metadata: { name: clerk }, spec: { description: Sells., modelConfig: { modelRef: Model/demo }, tools: [Tool/shelf], extensions: [Extension/look], environment: { WORD: { valueFrom: { env: RUNTIME_VIEW_WORD } } } }',
  'kind: Agent, metadata: { name: cook }, spec: { description: Cooks., modelConfig: { modelRef: Model/demo } }',
  'kind: Tool, metadata: { name: shelf }, spec: { entry: ./shelf.ts, config: { word: { valueFrom: { env: RUNTIME_VIEW_WORD } } }, exports: [{ name: read, description: Reads the shelf. }] }',
  'kind: Extension, metadata: { name: look }, spec: { entry: ./look.ts, config: { word: { valueFrom: { env: RUNTIME_VIEW_WORD } } } }',
  'kind: Connector, metadata: { name: bell }, spec: { entry: ./bell.ts }',
  'kind: Connection, metadata: { name: front-door }, spec: { connectorRef: Connector/bell, swarmRef: Swarm/shop, secrets: { word: { valueFrom: { env: RUNTIME_VIEW_WORD } } }, ingress: { rules: [{ route: {} }] } }',
  'kind: Connection, metadata: { name: kitchen-door }, spec: { connectorRef: Connector/bell, swarmRef: Swarm/shop, ingress: { rules: [{ route: { agentRef: Agent/cook } }] } }',
  'kind: Swarm, metadata: { name: shop }, spec: { entryAgent: Agent/clerk, agents: [Agent/clerk, Agent/cook], workspace: shop }',
];
const yaml = (list: readonly string[]) =>
  list.map((resource) => `{ apiVersion: goondan.ai/v1, ${resource} }\n`).join('---\n');

const files = {
  '.env': 'RUNTIME_VIEW_WORD=word-of-the-environment\n',
  'goondan.yaml': yaml(resources),
  'shelf.ts': 'export const handlers = { read: () => [] };\n',
  'bell.ts':
    'export default ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve()));\n',
  'look.ts': `import { createAssistantMessage } from '@goondan/types';
export function register({ pipeline }) {
  pipeline.register('turn', async (ctx) => {
    const result = await ctx.next();
    return { ...result, responseMessage: createAssistantMessage(JSON.stringify(ctx.runtime)) };
  });
}
`,
};

test('C-02 in a swarm, ctx.runtime shows the other agents and the connections to this agent, without secrets, and follows a reload', async () => {
  using bundle = temporaryBundle(files);
  const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-runtime-view-'));
  const swarm = await startSwarm({ bundleFolder: bundle.folder, stateRoot });
  try {
    const ask = async (): Promise<[RuntimeView, string]> => {
      const { result } = await swarm.ask({ input: 'Look around.', metadata: { shelf: 3 } });
      const text = textOf(result.responseMessage);
      return [JSON.parse(text), text];
    };
    const [view, text] = await ask();
    expect(view).toEqual({
      agent: { name: 'clerk', instanceKey: 'default', description: 'Sells.' },
      model: { ref: 'Model/demo', provider: 'scripted', name: 'test-model' },
      tools: [{ name: 'shelf__read', description: 'Reads the shelf.' }],
      agents: [{ name: 'cook', description: 'Cooks.' }],
      connections: [{ name: 'front-door', connector: 'bell' }],
      inboundEvent: {
        id: expect.any(String),
        type: 'user.message',
        source: { kind: 'cli', name: expect.any(String) },
        metadata: { shelf: 3 },
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      },
    });
    expect(text).not.toContain('word-of-the-environment');

    const { instances } = await swarm.status();
    const rerouted = yaml(resources).replace('rules: [{ route: {} }]', 'rules: [{ route: { agentRef: Agent/cook } }]');
    writeFileSync(join(bundle.folder, 'goondan.yaml'), rerouted);
    expect((await swarm.reload()).kept).toContain('Agent/clerk');
    expect((await ask())[0].connections).toEqual([]);
    expect((await swarm.status()).instances.map(({ pid }) => pid)).toEqual(instances.map(({ pid }) => pid));
  } finally {
    await swarm.stop({ graceMs: 0 });
    rmSync(stateRoot, { recursive: true, force: true });
  }
});
