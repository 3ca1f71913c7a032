import type { JsonObject } from '@goondan/types';

export interface LimitedBundle {
  readonly url: string;
  /** The provider of the model; an openai-compatible one when absent. */
  readonly provider?: string;
  readonly agents: readonly string[];
  readonly limits?: JsonObject;
  readonly params?: JsonObject;
  /** Extensions of all agents, as items of a list. */
  readonly extensions?: readonly (string | JsonObject)[];
  readonly isolation?: 'agent';
  readonly policy?: JsonObject;
}

/** Returns the files of a bundle whose agents share one model. The prompt of each agent is its name. */
export function limitedBundle(bundle: LimitedBundle): Readonly<Record<string, string>> {
  const {
    url,
    provider = 'openai-compatible',
    agents,
    limits,
    params,
    extensions = [],
    isolation,
    policy = {},
  } = bundle;
  const resource = (kind: string, name: string, spec: JsonObject) =>
    JSON.stringify({ apiVersion: 'goondan.ai/v1', kind, metadata: { name }, spec });
  const model = {
    provider,
    model: 'counted',
    endpoint: url,
    apiKey: 'key',
    options: { stream: false },
    ...(limits && { limits }),
    ...(params && { params }),
  };
  const documents = [
    resource('Model', 'main', model),
    ...agents.map((name) =>
      resource('Agent', name, {
        modelConfig: { modelRef: 'Model/main' },
        prompt: { system: name },
        extensions: [...extensions],
        ...(isolation && { isolation, maxInstances: 100 }),
      }),
    ),
    resource('Swarm', 'limited', {
      entryAgent: `Agent/${agents[0]}`,
      agents: agents.map((name) => `Agent/${name}`),
      workspace: 'limited',
      policy: { spares: 0, ...policy },
    }),
  ];
  return { 'goondan.yaml': documents.join('\n---\n') };
}
