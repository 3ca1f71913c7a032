/** For tests: bundles that use the scripted model. */

export interface SampleOptions {
  /** YAML lines with the rules of the scripted model. */
  readonly script?: string;
  readonly options?: string;
  /** More YAML lines for the agent's spec. */
  readonly agent?: string;
  /** More YAML lines for the swarm's spec. */
  readonly swarm?: string;
  /** More YAML documents. */
  readonly more?: string;
  readonly agents?: readonly string[];
}

/** Creates a `goondan.yaml` with the agent `host` and the agents in `agents`, which repeat their input. */
export function sampleBundle(sample: SampleOptions = {}): string {
  const { script = `- { say: 'You said: {{input}}' }`, options = '{}', agent = '', swarm = '', more = '' } = sample;
  const names = ['host', ...(sample.agents ?? [])];
  // No process is started in advance: most tests would not use it, and it takes as long as the process of an agent.
  const policy = swarm.includes('policy:') ? '' : 'policy: { spares: 0 }\n';
  const documents = [
    `kind: Model\nmetadata: { name: scripted }\nspec:\n  provider: scripted\n  model: scripted\n  options:\n    script:\n${indent(script, 6)}`,
    ...names.map((name) => {
      const spec = `spec:\n  modelConfig: { modelRef: Model/scripted }\n${indent(name === 'host' ? agent : '', 2)}`;
      return `kind: Agent\nmetadata: { name: ${name} }\n${spec}`;
    }),
    `kind: Swarm\nmetadata: { name: default }\nspec:\n  entryAgent: Agent/host\n  agents: [${names.map((name) => `Agent/${name}`).join(', ')}]\n${indent(policy + swarm, 2)}`,
    ...(more === '' ? [] : [more]),
  ];
  const settings = options === '{}' ? '' : `\n${indent(options, 4)}`;
  const [model = '', ...rest] = documents;
  return [`${model}${settings}`, ...rest].map((text) => `apiVersion: goondan.ai/v1\n${text}`).join('\n---\n');
}

/** Gives `host` one extension, whose module is `NAME.ts`. */
export const withExtension = (name: string) => ({
  agent: `extensions: [Extension/${name}]`,
  more: `kind: Extension\nmetadata: { name: ${name} }\nspec: { entry: ./${name}.ts }`,
});

/** An extension of `host` whose module writes a file when it is imported. */
export const tellTale = {
  ...withExtension('tell-tale'),
  module: (mark: string) =>
    `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(mark)}, 'I ran');\nexport const register = () => undefined;\n`,
};

function indent(text: string, by: number): string {
  return text.replaceAll(/^(?=.)/gm, ' '.repeat(by));
}
