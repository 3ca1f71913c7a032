/** For tests: a bundle whose agents use one server that needs a sign-in, each in its own way. */
import type { JsonObject } from '@goondan/types';

/** The agents, and what differs in them. */
const agents: Readonly<Record<string, { readonly spec?: JsonObject; readonly config?: JsonObject }>> = {
  plain: {},
  /** Its connection is kept by a keeper process. */
  kept: { config: { attach: { mode: 'stateful' } } },
  /** Its conversations share a process. */
  shared: { spec: { isolation: 'agent' } },
};

/** The input of an agent is the name of the tool that its model calls. */
const script = [
  ...['look', 'write', 'fail'].map((tool) => ({ when: `^${tool}$`, call: { tool: `server__${tool}`, args: {} } })),
  { say: '{{result}}' },
];

/** Returns `goondan.yaml` as JSON, which is YAML too. `transport`: more settings of the server. */
export function guardedBundle(url: string, transport: JsonObject = {}): string {
  const resource = (kind: string, name: string, spec: JsonObject) =>
    JSON.stringify({ apiVersion: 'goondan.ai/v1', kind, metadata: { name }, spec });
  const names = Object.keys(agents);
  return [
    resource('Model', 'main', { provider: 'scripted', model: 'scripted', options: { script } }),
    ...Object.entries(agents).map(([name, { spec = {}, config = {} }]) =>
      resource('Agent', name, {
        modelConfig: { modelRef: 'Model/main' },
        extensions: [
          {
            ref: { kind: 'Extension', name: 'mcp', package: '@goondan/base' },
            as: 'server',
            config: { transport: { type: 'http', url, ...transport }, ...config },
          },
        ],
        ...spec,
      }),
    ),
    resource('Swarm', 'default', {
      entryAgent: 'Agent/plain',
      agents: names.map((name) => `Agent/${name}`),
      policy: { spares: 0 },
    }),
  ].join('\n---\n');
}
