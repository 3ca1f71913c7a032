/** A swarm of three agents at the counting server: `a` asks `b` and `c`, and `b` asks `c`. */
export const SWARM = 'counted';

/** The model of each agent, whose name tells the server what to answer. */
export const models = { a: 'asks-b-c', b: 'asks-c', c: 'answers' } as const;

/** Returns the text of a `goondan.yaml`. */
export const countedBundle = (url: string) => `apiVersion: goondan.ai/v1
kind: Swarm
metadata: { name: ${SWARM} }
spec:
  entryAgent: Agent/a
  agents: [Agent/a, Agent/b, Agent/c]
  policy: { spares: 0, restart: { quickCrashes: 100, baseMs: 1, maxMs: 5 } }
${Object.entries(models)
  .map(
    ([name, model]) => `---
apiVersion: goondan.ai/v1
kind: Agent
metadata: { name: ${name} }
spec:
  modelConfig: { modelRef: Model/${name} }
  isolation: ${name === 'c' ? 'agent' : 'instance'}
  tools: [{ kind: Tool, name: agents, package: '@goondan/base' }]
---
apiVersion: goondan.ai/v1
kind: Model
metadata: { name: ${name} }
spec: { provider: anthropic, model: ${model}, apiKey: test, endpoint: '${url}/v1' }
`,
  )
  .join('')}`;
