/** The YAML of a bundle whose agent has this extension of `@goondan/base`, and these others after it. */
export function bundleWith(extension: string, config: string, others: readonly string[] = []): string {
  const ref = (name: string) => `ref: { kind: Extension, name: ${name}, package: '@goondan/base' }`;
  return `apiVersion: goondan.ai/v1
kind: Agent
metadata: { name: a }
spec:
  modelConfig: { modelRef: Model/m }
  extensions:
    - { ${ref(extension)}, config: ${config} }
${others.map((name) => `    - { ${ref(name)} }`).join('\n')}
---
apiVersion: goondan.ai/v1
kind: Model
metadata: { name: m }
spec: { provider: scripted, model: s, options: { script: [{ say: hi }] } }
---
apiVersion: goondan.ai/v1
kind: Swarm
metadata: { name: default }
spec: { entryAgent: Agent/a, agents: [Agent/a] }
`;
}
