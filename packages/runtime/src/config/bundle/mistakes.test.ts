// Tests common mistakes in a bundle, one per case. `‸` marks the place that the problem must name.
import { describe, expect, test } from 'bun:test';
import type { ErrorCode } from '@goondan/types';
import { temporaryBundle } from '../../testing/temporary-bundle.ts';
import { loadBundle } from './load-bundle.ts';

interface Mistake {
  readonly title: string;
  readonly yaml: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly suggestion?: string;
  /** More files, in addition to the modules that every case has. */
  readonly files?: Readonly<Record<string, string>>;
}

const modules = {
  't.ts': 'export const handlers = {};\n',
  'e.ts': 'export function register() {}\n',
  'c.ts': 'export default async () => {};\n',
  'p.md': 'You are careful.\n',
};

const head = (kind: string, name = 'a') => `apiVersion: goondan.ai/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;
const model = `${head('Model', 'm')}spec: { provider: scripted, model: m, options: { script: [{ say: hi }] } }\n`;
const agent = (name: string, more = '') =>
  `${head('Agent', name)}spec: { modelConfig: { modelRef: Model/m }${more} }\n`;
const tool = (name: string, more = '') =>
  `${head('Tool', name)}spec: { entry: ./t.ts, exports: [{ name: get, description: x }]${more} }\n`;
const extension = (name: string, more = '') => `${head('Extension', name)}spec: { entry: ./e.ts${more} }\n`;
const swarm = (agents = 'Agent/a', more = '') =>
  `${head('Swarm', 'default')}spec: { entryAgent: Agent/a, agents: [${agents}]${more} }\n`;
const portSchema = '{ type: object, properties: { port: { type: integer } }, additionalProperties: false }';
const connector = `${head('Connector', 'web')}spec: { entry: ./c.ts, events: [message], configSchema: ${portSchema} }\n`;
const documents = (...texts: string[]) => texts.join('---\n');
const agentSpec = (spec: string) => documents(model, `${head('Agent')}spec:\n${spec.replaceAll(/^/gm, '  ')}\n`);
const modelSpec = (spec: string) => `${head('Model')}spec: ${spec}\n`;
const scripted = (rule: string) => modelSpec(`{ provider: scripted, model: m, options: { script: [${rule}] } }`);
const connection = (spec: string) =>
  documents(
    model,
    agent('a'),
    agent('b'),
    swarm(),
    connector,
    `${head('Connection')}spec:\n${spec.replaceAll(/^/gm, '  ')}\n`,
  );

const structure: Mistake[] = [
  {
    title: 'a document that is a list',
    yaml: '‸- a\n- b\n',
    code: 'E_RESOURCE_INVALID',
    message: 'A document must be an object with apiVersion, kind, metadata and spec.',
  },
  {
    title: 'no kind',
    yaml: '‸apiVersion: goondan.ai/v1\nmetadata: { name: a }\n',
    code: 'E_RESOURCE_KIND',
    message: 'The document has no `kind`.',
  },
  {
    title: 'an unknown kind',
    yaml: 'apiVersion: goondan.ai/v1\nkind: ‸Extention\nmetadata: { name: a }\nspec: { entry: ./e.ts }\n',
    code: 'E_RESOURCE_KIND',
    message: 'There is no kind "Extention".',
    suggestion: 'Did you mean `Extension`?',
  },
  {
    title: 'no apiVersion',
    yaml: '‸kind: Model\nmetadata: { name: a }\nspec: { provider: anthropic, model: m }\n',
    code: 'E_RESOURCE_INVALID',
    message: 'apiVersion is missing; it must be goondan.ai/v1.',
  },
  {
    title: 'another apiVersion',
    yaml: 'apiVersion: ‸goondan.ai/v2\nkind: Model\nmetadata: { name: a }\nspec: { provider: anthropic, model: m }\n',
    code: 'E_RESOURCE_INVALID',
    message: 'apiVersion must be goondan.ai/v1, not "goondan.ai/v2".',
    suggestion: 'Did you mean `goondan.ai/v1`?',
  },
  {
    title: 'no metadata',
    yaml: '‸apiVersion: goondan.ai/v1\nkind: Model\nspec: { provider: anthropic, model: m }\n',
    code: 'E_RESOURCE_INVALID',
    message: 'metadata is missing; it must be an object.',
  },
  {
    title: 'no name',
    yaml: 'apiVersion: goondan.ai/v1\nkind: Model\n‸metadata: { labels: { a: b } }\nspec: { provider: anthropic, model: m }\n',
    code: 'E_RESOURCE_INVALID',
    message: 'metadata.name is missing; it must be a string.',
  },
  {
    title: 'a name with two dots in a row',
    yaml: `apiVersion: goondan.ai/v1\nkind: Model\nmetadata: { name: ‸my..model }\nspec: { provider: anthropic, model: m }\n`,
    code: 'E_RESOURCE_NAME',
    message: '"my..model" is not a name for a resource.',
  },
  {
    title: 'a name with a dot at the end',
    yaml: `apiVersion: goondan.ai/v1\nkind: Model\nmetadata: { name: ‸model. }\nspec: { provider: anthropic, model: m }\n`,
    code: 'E_RESOURCE_NAME',
    message: '"model." is not a name for a resource.',
  },
  {
    title: 'a name that is a path',
    yaml: `apiVersion: goondan.ai/v1\nkind: Model\nmetadata: { name: ‸../x }\nspec: { provider: anthropic, model: m }\n`,
    code: 'E_RESOURCE_NAME',
    message: '"../x" is not a name for a resource.',
  },
  {
    title: 'a name that is too long',
    yaml: `apiVersion: goondan.ai/v1\nkind: Model\nmetadata: { name: ‸${'a'.repeat(64)} }\nspec: { provider: anthropic, model: m }\n`,
    code: 'E_RESOURCE_NAME',
    message: `"${'a'.repeat(40)}…" is not a name for a resource.`,
  },
  {
    title: 'a label that is a number',
    yaml: `apiVersion: goondan.ai/v1\nkind: Model\nmetadata: { name: a, labels: { tier: ‸1 } }\nspec: { provider: anthropic, model: m }\n`,
    code: 'E_RESOURCE_INVALID',
    message: 'metadata.labels.tier must be a string, not 1.',
  },
  {
    title: 'an unknown key at the top',
    yaml: `${head('Model')}‸sepc: {}\nspec: { provider: anthropic, model: m }\n`,
    code: 'E_RESOURCE_KEY',
    message: 'A resource has no field "sepc".',
    suggestion: 'Did you mean `spec`?',
  },
  {
    title: 'a mistyped key, which is not also reported as missing',
    yaml: `${head('Extension')}spec: { ‸entrie: ./e.ts }\n`,
    code: 'E_RESOURCE_KEY',
    message: 'spec has no field "entrie".',
    suggestion: 'Did you mean `entry`?',
  },
  {
    title: 'no spec',
    yaml: `‸apiVersion: goondan.ai/v1\nkind: Extension\nmetadata: { name: a }\n`,
    code: 'E_RESOURCE_INVALID',
    message: 'spec is missing; it must be an object.',
  },
  {
    title: 'a spec that is a text',
    yaml: `${head('Extension')}spec: ‸./e.ts\n`,
    code: 'E_RESOURCE_INVALID',
    message: 'spec must be an object, not "./e.ts".',
  },
  {
    title: 'one name in two files',
    yaml: extension('a'),
    files: { 'more.yaml': extension('‸a') },
    code: 'E_RESOURCE_DUPLICATE',
    message: 'Extension/a is declared already, at goondan.yaml:3.',
  },
  {
    title: 'two names of a kind that differ in case only',
    yaml: documents(extension('logBook'), tool('LogBook')),
    files: { 'more.yaml': extension('‸LogBook') },
    code: 'E_RESOURCE_DUPLICATE',
    message: 'Extension/LogBook differs from Extension/logBook, at goondan.yaml:3, in capital letters only.',
    suggestion: 'Give one of the two resources another name.',
  },
  {
    title: 'two extensions of an agent whose names differ in case only',
    yaml: documents(
      extension('log'),
      agentSpec('modelConfig: { modelRef: Model/m }\nextensions: [Extension/log, ‸{ ref: Extension/log, as: Log }]'),
    ),
    code: 'E_REF_TWICE',
    message: 'spec.extensions lists Extension/log and Extension/Log, whose names differ in capital letters only.',
  },
  {
    title: 'an extension of the swarm and one of an agent whose names differ in case only',
    yaml: documents(
      model,
      extension('log'),
      agent('a', ', extensions: [Extension/log]'),
      swarm('Agent/a', ', extensions: [‸{ ref: Extension/log, as: LOG }]'),
    ),
    code: 'E_REF_TWICE',
    message: 'Agent/a lists Extension/log, which differs from Extension/LOG of the swarm in capital letters only.',
  },
  {
    title: 'a key twice',
    yaml: `${head('Extension')}spec: { entry: ./e.ts, ‸entry: ./e.ts }\n`,
    code: 'E_YAML_KEY',
    message: 'The key "entry" is in the same object twice.',
  },
];

const models: Mistake[] = [
  {
    title: 'an unknown provider',
    yaml: modelSpec('{ provider: ‸antropic, model: m }'),
    code: 'E_RESOURCE_INVALID',
    message:
      'spec.provider must be one of anthropic, openai, google, openai-compatible, scripted, cassette, not "antropic".',
    suggestion: 'Did you mean `anthropic`?',
  },
  {
    title: 'no provider',
    yaml: `${head('Model')}‸spec: { model: m }\n`,
    code: 'E_RESOURCE_INVALID',
    message:
      'spec.provider is missing; it must be one of anthropic, openai, google, openai-compatible, scripted, cassette.',
  },
  {
    title: 'no model',
    yaml: `${head('Model')}‸spec: { provider: anthropic }\n`,
    code: 'E_RESOURCE_INVALID',
    message: 'spec.model is missing; it must be a string.',
  },
  {
    title: 'an empty model',
    yaml: modelSpec('{ provider: anthropic, model: ‸"" }'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.model must be a text that is not empty, not "".',
  },
  {
    title: 'no endpoint where one is needed',
    yaml: `${head('Model')}‸spec: { provider: openai-compatible, model: m }\n`,
    code: 'E_RESOURCE_INVALID',
    message: 'spec.endpoint is missing; it must be a string or an object.',
  },
  {
    title: 'an endpoint that is not a URL',
    yaml: modelSpec('{ provider: openai-compatible, model: m, endpoint: ‸localhost:11434 }'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.endpoint is not an http(s) URL.',
  },
  {
    title: 'a value source with a mistyped key',
    yaml: modelSpec('{ provider: anthropic, model: m, apiKey: { valueFrom: { ‸evn: KEY } } }'),
    code: 'E_RESOURCE_KEY',
    message: 'spec.apiKey.valueFrom has no field "evn".',
    suggestion: 'Did you mean `env`?',
  },
  {
    title: 'a value source that is a number',
    yaml: modelSpec('{ provider: anthropic, model: m, apiKey: ‸42 }'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.apiKey must be a string or an object, not 42.',
  },
  {
    title: 'an unknown option of the provider',
    yaml: modelSpec('{ provider: anthropic, model: m, options: { ‸steam: true } }'),
    code: 'E_RESOURCE_KEY',
    message: 'spec.options has no field "steam".',
    suggestion: 'Did you mean `stream`?',
  },
  {
    title: 'a timeout of 0',
    yaml: modelSpec('{ provider: anthropic, model: m, options: { timeouts: { totalMs: ‸0 } } }'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.options.timeouts.totalMs must be more than 0, not 0.',
  },
  {
    title: 'a setting that is a text',
    yaml: modelSpec('{ provider: anthropic, model: m, params: { temperature: ‸hot } }'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.params.temperature must be a number, not "hot".',
  },
  {
    title: 'a script without rules',
    yaml: modelSpec('{ provider: scripted, model: m, options: { script: ‸[] } }'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.options.script must be a list with at least 1 item, not an empty list.',
  },
  {
    title: 'a rule with a mistyped field',
    yaml: scripted('{ ‸sya: hi }'),
    code: 'E_RESOURCE_KEY',
    message: 'spec.options.script[0] has no field "sya".',
    suggestion: 'Did you mean `say`?',
  },
  {
    title: 'a rule with an invalid pattern',
    yaml: scripted('‸{ when: "(", say: hi }'),
    code: 'E_MODEL_SCRIPT',
    message: 'Scripted model: script[0].when is not a regular expression (Invalid regular expression: missing )).',
  },
  {
    title: 'a cassette that replays a missing file',
    yaml: modelSpec('{ provider: cassette, model: m, options: { mode: replay, file: ‸./tape.jsonl } }'),
    code: 'E_CASSETTE_FILE',
    message: 'There is no file "./tape.jsonl".',
  },
  {
    title: 'a cassette that records no model',
    yaml: modelSpec('{ provider: cassette, model: m, ‸options: { mode: record, file: ./tape.jsonl } }'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.options.upstream is missing; it must name the model to record.',
  },
  {
    title: 'a cassette that records itself',
    yaml: modelSpec('{ provider: cassette, model: m, options: { mode: record, file: ./t.jsonl, upstream: ‸Model/a } }'),
    code: 'E_REF_CYCLE',
    message: 'A model would record itself: Model/a → Model/a.',
  },
];

const agents: Mistake[] = [
  {
    title: 'no model',
    yaml: `${head('Agent')}‸spec: { prompt: { system: hi } }\n`,
    code: 'E_RESOURCE_INVALID',
    message: 'spec.modelConfig is missing; it must be an object.',
  },
  {
    title: 'a model that is not declared',
    yaml: agentSpec('modelConfig: { modelRef: ‸Model/n }'),
    code: 'E_REF_MISSING',
    message: 'There is no Model/n.',
    suggestion: 'Use one of: Model/m.',
  },
  {
    title: 'a name instead of a reference',
    yaml: agentSpec('modelConfig: { modelRef: ‸m }'),
    code: 'E_REF_INVALID',
    message: '"m" is not a reference.',
    suggestion: 'Write `Kind/name`, for example `Model/m`.',
  },
  {
    title: 'a reference of another kind',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\ntools: [{ ref: ‸Extension/log }]'),
    code: 'E_REF_KIND',
    message: 'This field needs a Tool, not an Extension.',
  },
  {
    title: 'a reference of an unknown kind',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\ntools: [‸Tols/x]'),
    code: 'E_REF_INVALID',
    message: '"Tols/x" is not a reference.',
    suggestion: 'Write `Kind/name`, for example `Tool/x`.',
  },
  {
    title: 'a resource of a package, as npm writes packages',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\ntools: [‸"Tool/dice@@acme/tools"]'),
    code: 'E_REF_INVALID',
    message: '"Tool/dice@@acme/tools" is not a reference.',
    suggestion: 'Write `Kind/name`, for example `Tool/name`, and of a package `{ kind: Tool, name: …, package: … }`.',
  },
  {
    title: 'a tool that is not declared, as an object',
    yaml: documents(
      tool('weather'),
      agentSpec('modelConfig: { modelRef: Model/m }\ntools: [{ kind: Tool, name: ‸wether }]'),
    ),
    code: 'E_REF_MISSING',
    message: 'There is no Tool/wether, neither in this bundle nor in @goondan/base.',
    suggestion: expect.stringMatching(
      /^Did you mean `Tool\/weather`\? This bundle has Tool\/weather\. @goondan\/base has /,
    ),
  },
  {
    title: 'an item with a mistyped field',
    yaml: documents(
      extension('log'),
      agentSpec('modelConfig: { modelRef: Model/m }\nextensions: [{ ref: Extension/log, ‸confg: {} }]'),
    ),
    code: 'E_RESOURCE_KEY',
    message: 'spec.extensions[0] has no field "confg".',
    suggestion: 'Did you mean `config`?',
  },
  {
    title: 'an item that is a number',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\ntools: [‸7]'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.tools[0] must be a string or an object, not 7.',
  },
  {
    title: 'tools that are not a list',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\ntools: ‸Tool/x'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.tools must be a list, not "Tool/x".',
  },
  {
    title: 'a package that is not installed',
    yaml: agentSpec(
      'modelConfig: { modelRef: Model/m }\nextensions: [{ ref: { kind: Extension, name: x, package: ‸"@goondan/bas" } }]',
    ),
    code: 'E_PACKAGE_MISSING',
    message: 'The package "@goondan/bas" is not installed.',
  },
  {
    title: 'a package that is not one of ours',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\nextensions: [{ kind: Extension, name: x, package: ‸other }]'),
    files: { 'node_modules/other/package.json': '{}' },
    code: 'E_PACKAGE_MISSING',
    message: 'The package "other" has no goondan.yaml.',
  },
  {
    title: 'a package whose name is a path',
    yaml: agentSpec(
      'modelConfig: { modelRef: Model/m }\nextensions: [{ kind: Extension, name: ‸x, package: ../../etc }]',
    ),
    code: 'E_REF_INVALID',
    message: '"../../etc" is not the name of an npm package.',
  },
  {
    title: 'an extension twice',
    yaml: documents(
      extension('log'),
      agentSpec('modelConfig: { modelRef: Model/m }\nextensions: [Extension/log, ‸{ ref: Extension/log }]'),
    ),
    code: 'E_REF_TWICE',
    message: 'spec.extensions lists Extension/log twice.',
  },
  {
    title: 'an extension under another name that is taken',
    yaml: documents(
      extension('log'),
      extension('other'),
      agentSpec('modelConfig: { modelRef: Model/m }\nextensions: [Extension/log, ‸{ ref: Extension/other, as: log }]'),
    ),
    code: 'E_REF_TWICE',
    message: 'spec.extensions lists Extension/log twice.',
  },
  {
    title: 'an unknown agent in mayAsk',
    yaml: documents(agent('critic'), agentSpec('modelConfig: { modelRef: Model/m }\nmayAsk: [‸Agent/critik]')),
    code: 'E_REF_MISSING',
    message: 'There is no Agent/critik.',
    suggestion: 'Did you mean `Agent/critic`?',
  },
  {
    title: 'a name in mayAsk that is not a reference',
    yaml: documents(agent('critic'), agentSpec('modelConfig: { modelRef: Model/m }\nmayAsk: [‸critic]')),
    code: 'E_REF_INVALID',
    message: '"critic" is not a reference.',
    suggestion: 'Write `Kind/name`, for example `Agent/critic`.',
  },
  {
    title: 'another kind in mayAsk',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\nmayAsk: [‸Model/m]'),
    code: 'E_REF_KIND',
    message: 'This field needs an Agent, not a Model.',
  },
  {
    title: 'an agent in mayAsk twice',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\nmayAsk: [Agent/a, ‸Agent/a]'),
    code: 'E_REF_TWICE',
    message: 'spec.mayAsk lists Agent/a twice.',
  },
  {
    title: 'an agent in mayAsk that is in another swarm only',
    yaml: documents(
      agentSpec('modelConfig: { modelRef: Model/m }\nmayAsk: [Agent/critic, ‸Agent/critics]'),
      agent('critic'),
      agent('critics'),
      swarm('Agent/a, Agent/critic'),
      `${head('Swarm', 'other')}spec: { entryAgent: Agent/critics, agents: [Agent/critics] }\n`,
    ),
    code: 'E_REF_MISSING',
    message: 'spec.mayAsk: Agent/critics is in no swarm together with Agent/a.',
    suggestion: 'Did you mean `Agent/critic`?',
  },
  {
    title: 'an invalid other name',
    yaml: documents(
      extension('log'),
      agentSpec('modelConfig: { modelRef: Model/m }\nextensions: [{ ref: Extension/log, as: ‸Not_a/name }]'),
    ),
    code: 'E_RESOURCE_NAME',
    message: '"Not_a/name" is not a name for an extension.',
  },
  {
    title: 'a missing prompt file',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\nprompt: { systemRef: ‸./prompt.md }'),
    code: 'E_PROMPT_FILE',
    message: 'There is no file "./prompt.md".',
  },
  {
    title: 'a prompt and a file',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\nprompt: { system: hi, ‸systemRef: ./p.md }'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.prompt has both system and systemRef.',
    suggestion: 'Keep one of them.',
  },
  {
    title: 'a prompt outside of the bundle',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\nprompt: { systemRef: ‸../../etc/passwd }'),
    code: 'E_PATH_OUTSIDE',
    message: 'spec.prompt.systemRef "../../etc/passwd" contains "..".',
  },
  {
    title: 'a limit of 0',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\npolicy: { maxStepsPerTurn: ‸0 }'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.policy.maxStepsPerTurn must be at least 1, not 0.',
  },
  {
    title: 'a limit that is not a whole number',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\npolicy: { maxStepsPerTurn: ‸1.5 }'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.policy.maxStepsPerTurn must be a whole number, not 1.5.',
  },
  {
    title: 'a reserved variable',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\nenvironment: { ‸LD_PRELOAD: ./x.so }'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.environment: the environment variable LD_PRELOAD cannot be declared: it is reserved.',
  },
  {
    title: 'a missing working folder',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\nworkdir: ‸./nowhere'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.workdir: there is no folder "./nowhere".',
  },
  {
    title: 'a limit of a shared process without one',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\nmaxInstances: ‸20'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.maxInstances limits the conversations of a shared process, but every conversation has its own.',
    suggestion: 'Add `isolation: agent` to share processes, or remove `maxInstances`.',
  },
];

const swarms: Mistake[] = [
  {
    title: 'a glob that is not closed',
    yaml: documents(model, agent('a'), swarm('Agent/a', ', policy: { changes: { allow: [skills/**, ‸"tools/[a"] } }')),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.policy.changes.allow[1] has a `[` without a `]`.',
    suggestion: 'Write a path relative to the bundle, such as `prompts/*.md` or `skills/**`.',
  },
  {
    title: 'a glob that leads out of the bundle',
    yaml: documents(model, agent('a'), swarm('Agent/a', ', policy: { changes: { allow: [‸../**] } }')),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.policy.changes.allow[0] contains `..`.',
  },
  {
    title: 'no agents',
    yaml: documents(model, agent('a'), `${head('Swarm', 'default')}spec: { entryAgent: Agent/a, agents: ‸[] }\n`),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.agents must be a list with at least 1 item, not an empty list.',
  },
  {
    title: 'an agent that is not declared',
    yaml: documents(model, agent('a'), swarm('Agent/a, { ref: ‸Agent/reviewer }')),
    code: 'E_REF_MISSING',
    message: 'There is no Agent/reviewer.',
    suggestion: 'Use one of: Agent/a.',
  },
  {
    title: 'an entry agent that is not one of its agents',
    yaml: documents(model, agent('a'), agent('b'), swarm('Agent/b').replace('Agent/a', '‸Agent/a')),
    code: 'E_REF_MISSING',
    message: 'The entry agent Agent/a is not in spec.agents.',
  },
  {
    title: 'an innermost extension of a swarm',
    yaml: documents(
      model,
      extension('log', ', innermost: true'),
      agent('a'),
      swarm('Agent/a', ', extensions: [‸Extension/log]'),
    ),
    code: 'E_RESOURCE_INVALID',
    message: 'Extension/log has innermost: true, but the extensions of a swarm are outside of all others.',
  },
  {
    title: 'an innermost extension for v0.10',
    yaml: extension('a', ', compat: v010, innermost: ‸true'),
    code: 'E_RESOURCE_INVALID',
    message: 'An extension with compat: v010 cannot be innermost: the outermost one runs the functions of all.',
  },
  {
    title: 'an agent twice',
    yaml: documents(model, agent('a'), swarm('Agent/a, ‸Agent/a')),
    code: 'E_REF_TWICE',
    message: 'spec.agents lists Agent/a twice.',
  },
  {
    title: 'an extension that an agent already has',
    yaml: documents(
      model,
      extension('log'),
      agent('a', ', extensions: [Extension/log]'),
      swarm('Agent/a', ', extensions: [‸Extension/log]'),
    ),
    code: 'E_REF_TWICE',
    message: 'Agent/a also lists Extension/log, which the swarm already gives to all its agents.',
  },
  {
    title: 'another name that an agent already has',
    yaml: documents(
      model,
      extension('log'),
      extension('other'),
      agent('a', ', extensions: [Extension/log]'),
      swarm('Agent/a', ', extensions: [‸{ ref: Extension/other, as: log }]'),
    ),
    code: 'E_REF_TWICE',
    message: 'Agent/a also lists Extension/log, which the swarm already gives to all its agents.',
  },
  {
    title: 'an unknown policy',
    yaml: documents(model, agent('a'), swarm('Agent/a', ', policy: { ‸maxStepPerTurn: 3 }')),
    code: 'E_RESOURCE_KEY',
    message: 'spec.policy has no field "maxStepPerTurn".',
    suggestion: 'Did you mean `maxStepsPerTurn`?',
  },
  {
    title: 'too many spares',
    yaml: documents(model, agent('a'), swarm('Agent/a', ', policy: { spares: ‸17 }')),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.policy.spares must be at most 16, not 17.',
  },
];

const toolsAndExtensions: Mistake[] = [
  {
    title: 'a missing entry',
    yaml: `${head('Tool')}spec: { entry: ‸./tool.ts, exports: [{ name: get, description: x }] }\n`,
    code: 'E_TOOL_LOAD',
    message: 'There is no file "./tool.ts".',
  },
  {
    title: 'an entry above the bundle',
    yaml: `${head('Extension')}spec: { entry: ‸../x.ts }\n`,
    code: 'E_PATH_OUTSIDE',
    message: 'spec.entry "../x.ts" contains "..".',
  },
  {
    title: 'an absolute entry',
    yaml: `${head('Connector')}spec: { entry: ‸/etc/passwd }\n`,
    code: 'E_PATH_OUTSIDE',
    message: 'spec.entry "/etc/passwd" is an absolute path.',
  },
  {
    title: 'an entry with a NUL',
    yaml: `${head('Extension')}spec: { entry: ‸"./e.ts\\0.png" }\n`,
    code: 'E_PATH_OUTSIDE',
    message: 'spec.entry "./e.ts\\0.png" contains a NUL byte.',
  },
  {
    title: 'an entry that is a folder',
    yaml: `${head('Extension')}spec: { entry: ‸./folder }\n`,
    files: { 'folder/x': '' },
    code: 'E_EXT_LOAD',
    message: '"./folder" is not a regular file.',
  },
  {
    title: 'an entry that is not a module',
    yaml: `${head('Extension')}spec: { entry: ‸./p.md }\n`,
    code: 'E_EXT_LOAD',
    message: '"./p.md" is not a TypeScript or JavaScript module.',
  },
  {
    title: 'an entry that does not parse',
    yaml: `${head('Extension')}spec: { entry: ‸./broken.ts }\n`,
    files: { 'broken.ts': 'export const x = 1;\nexport function register( {\n' },
    code: 'E_EXT_LOAD',
    message: 'broken.ts:2:28 does not parse: Expected identifier but found end of file.',
  },
  {
    title: 'an entry with several syntax errors',
    yaml: `${head('Extension')}spec: { entry: ‸./broken.ts }\n`,
    files: { 'broken.ts': 'export function register() {\n  const rules = {;\n}\n' },
    code: 'E_EXT_LOAD',
    message: 'broken.ts:2:18 does not parse: Expected identifier but found ";".',
  },
  {
    title: 'an import of a package that is not installed',
    yaml: `${head('Extension')}spec: { entry: ‸./imports.ts }\n`,
    files: { 'imports.ts': `import pad from 'left-pad/lib';\nexport const register = () => pad();\n` },
    code: 'E_IMPORT_MISSING',
    message: 'imports.ts imports "left-pad/lib", which is not installed.',
  },
  {
    title: 'the same import two files deep',
    yaml: `${head('Tool')}spec: { entry: ‸./deep.ts, exports: [{ name: get, description: x }] }\n`,
    files: {
      'deep.ts': `export { handlers } from './lib/one.js';\n`,
      'lib/one.ts': `import '@scope/nothing';\nexport const handlers = {};\n`,
    },
    code: 'E_IMPORT_MISSING',
    message: 'lib/one.ts imports "@scope/nothing", which is not installed.',
  },
  {
    title: 'an import of a missing file',
    yaml: `${head('Extension')}spec: { entry: ‸./imports.ts }\n`,
    files: { 'imports.ts': `import { x } from './gone';\nexport const register = x;\n` },
    code: 'E_IMPORT_MISSING',
    message: 'imports.ts imports "./gone", which is not there.',
  },
  {
    title: 'an empty list of exports',
    yaml: `${head('Tool')}spec: { entry: ./t.ts, exports: ‸[] }\n`,
    code: 'E_RESOURCE_INVALID',
    message: 'spec.exports must be a list with at least 1 item, not an empty list.',
  },
  {
    title: 'an export without a description',
    yaml: `${head('Tool')}spec: { entry: ./t.ts, exports: [‸{ name: get }] }\n`,
    code: 'E_RESOURCE_INVALID',
    message: 'spec.exports[0].description is missing; it must be a string.',
  },
  {
    title: 'an export whose name has two underscores',
    yaml: `${head('Tool')}spec: { entry: ./t.ts, exports: [{ name: ‸get__all, description: x }] }\n`,
    code: 'E_TOOL_NAME',
    message: '"get__all" is not a name for an export.',
  },
  {
    title: 'an export whose name has capitals',
    yaml: `${head('Tool')}spec: { entry: ./t.ts, exports: [{ name: ‸getAll, description: x }] }\n`,
    code: 'E_TOOL_NAME',
    message: '"getAll" is not a name for an export.',
  },
  {
    title: 'a tool name that no provider accepts',
    yaml: `${head('Tool', 'a'.repeat(40))}spec: { entry: ./t.ts, exports: [{ name: ‸${'b'.repeat(30)}, description: x }] }\n`,
    code: 'E_TOOL_NAME',
    message: `"${'a'.repeat(40)}__${'b'.repeat(30)}" is not a tool name: it has 72 characters, but providers accept at most 64.`,
  },
  {
    title: 'an export twice',
    yaml: `${head('Tool')}spec: { entry: ./t.ts, exports: [{ name: get, description: x }, { name: ‸get, description: y }] }\n`,
    code: 'E_REF_TWICE',
    message: 'The export "get" is listed twice.',
  },
  {
    title: 'parameters that are not a schema',
    yaml: `${head('Tool')}spec: { entry: ./t.ts, exports: [{ name: get, description: x, parameters: { properties: { city: { type: ‸text } } } }] }\n`,
    code: 'E_TOOL_SCHEMA',
    message:
      'The parameters of "a__get" are not a JSON Schema: properties.city.type must be equal to one of the allowed values (["array","boolean","integer","null","number","object","string"]).',
  },
  {
    title: 'unknown effects',
    yaml: `${head('Tool')}spec: { entry: ./t.ts, exports: [{ name: get, description: x, effects: ‸locale }] }\n`,
    code: 'E_RESOURCE_INVALID',
    message: 'spec.exports[0].effects must be one of none, local, external, not "locale".',
    suggestion: 'Did you mean `local`?',
  },
  {
    title: 'an extension of another version',
    yaml: 'apiVersion: ‸goondan.io/v1alpha1\nkind: Extension\nmetadata: { name: a }\nspec: { entry: ./e.ts }\n',
    code: 'E_EXT_COMPAT',
    message: 'apiVersion must be goondan.ai/v1, not "goondan.io/v1alpha1".',
    suggestion: 'Set apiVersion: goondan.ai/v1.',
  },
  {
    title: 'the removed field `runtime`',
    yaml: `${head('Extension')}spec: { ‸runtime: node, entry: ./e.ts }\n`,
    code: 'E_EXT_COMPAT',
    message: 'spec.runtime no longer exists.',
    suggestion: 'Remove the field: extensions always run on Bun.',
  },
  {
    title: 'a config that does not fit, by the agent',
    yaml: documents(
      extension('log', ', configSchema: { properties: { level: { enum: [info, debug] } } }'),
      agentSpec('modelConfig: { modelRef: Model/m }\nextensions: [{ ref: Extension/log, config: { level: ‸loud } }]'),
    ),
    code: 'E_EXT_CONFIG',
    message:
      'The config of Extension/log does not fit: level must be equal to one of the allowed values (["info","debug"]).',
  },
  {
    title: 'a config that does not fit, by the extension itself',
    yaml: documents(
      extension('log', ', config: { max: ‸many }, configSchema: { properties: { max: { type: number } } }'),
      agentSpec('modelConfig: { modelRef: Model/m }\nextensions: [Extension/log]'),
    ),
    code: 'E_EXT_CONFIG',
    message: 'The config of Extension/log does not fit: max must be number.',
  },
  {
    title: 'an invalid config schema',
    yaml: extension('log', ', configSchema: { type: ‸config }'),
    code: 'E_EXT_CONFIG',
    message:
      'spec.configSchema is not a JSON Schema: type must be equal to one of the allowed values (["array","boolean","integer","null","number","object","string"]).',
  },
  {
    title: 'a value from the environment that is malformed, deep in a config',
    yaml: extension('log', ', config: { a: [{ b: { ‸valueFrom: { secret: X } } }] }'),
    code: 'E_RESOURCE_INVALID',
    message: 'valueFrom must be exactly { env: NAME }, alone in its object.',
  },
  {
    title: 'a config of a tool that does not fit, by the agent',
    yaml: documents(
      tool('shell', ', config: { max: 1 }, configSchema: { properties: { max: { type: number } } }'),
      agentSpec('modelConfig: { modelRef: Model/m }\ntools: [{ ref: Tool/shell, config: { max: ‸many } }]'),
    ),
    code: 'E_TOOL_CONFIG',
    message: 'The config of Tool/shell does not fit: max must be number.',
  },
  {
    title: 'a config of a tool that does not fit, by the tool itself',
    yaml: documents(
      tool('shell', ', config: { max: ‸many }, configSchema: { properties: { max: { type: number } } }'),
      agentSpec('modelConfig: { modelRef: Model/m }\ntools: [Tool/shell]'),
    ),
    code: 'E_TOOL_CONFIG',
    message: 'The config of Tool/shell does not fit: max must be number.',
  },
  {
    title: 'an invalid config schema of a tool',
    yaml: tool('shell', ', configSchema: { required: ‸config }'),
    code: 'E_TOOL_CONFIG',
    message: 'spec.configSchema is not a JSON Schema: required must be array.',
  },
  {
    title: 'a config for the tools of the runtime, which have none',
    yaml: agentSpec('modelConfig: { modelRef: Model/m }\ntools: [{ ref: Tool/agents, ‸config: { target: x } }]'),
    code: 'E_TOOL_CONFIG',
    message: 'Tool/agents has no config.',
    suggestion: 'Leave `config` out.',
  },
  {
    title: 'a malformed value in the config of a tool',
    yaml: tool('shell', ', config: { a: { ‸valueFrom: {} } }'),
    code: 'E_RESOURCE_INVALID',
    message: 'valueFrom must be exactly { env: NAME }, alone in its object.',
  },
  {
    title: 'a malformed value in the config that an agent gives a tool',
    yaml: documents(
      tool('shell'),
      agentSpec('modelConfig: { modelRef: Model/m }\ntools: [{ ref: Tool/shell, config: { ‸valueFrom: X } }]'),
    ),
    code: 'E_RESOURCE_INVALID',
    message: 'valueFrom must be exactly { env: NAME }, alone in its object.',
  },
];

const connections: Mistake[] = [
  {
    title: 'a connector that is not declared',
    yaml: connection('connectorRef: ‸Connector/wob\ningress: { rules: [{ route: {} }] }'),
    code: 'E_REF_MISSING',
    message: 'There is no Connector/wob, neither in this bundle nor in @goondan/base.',
    suggestion: expect.stringMatching(/^Did you mean `Connector\/web`\? This bundle has /),
  },
  {
    title: 'no rules',
    yaml: connection('connectorRef: Connector/web\ningress: { rules: ‸[] }'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.ingress.rules must be a list with at least 1 item, not an empty list.',
  },
  {
    title: 'a rule without a route',
    yaml: connection('connectorRef: Connector/web\ningress: { rules: [‸{ match: { event: message } }] }'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.ingress.rules[0].route is missing; it must be an object.',
  },
  {
    title: 'an event that the connector does not have',
    yaml: connection('connectorRef: Connector/web\ningress: { rules: [{ match: { event: ‸mesage }, route: {} }] }'),
    code: 'E_REF_MISSING',
    message: 'Connector/web has no event "mesage".',
    suggestion: 'Did you mean `message`?',
  },
  {
    title: 'an agent of another swarm',
    yaml: connection('connectorRef: Connector/web\ningress: { rules: [{ route: { agentRef: ‸Agent/b } }] }'),
    code: 'E_REF_MISSING',
    message: 'Agent/b is not one of the agents of Swarm/default.',
  },
  {
    title: 'two keys for one instance',
    yaml: connection(
      'connectorRef: Connector/web\ningress: { rules: [{ route: { instanceKey: a, instanceKeyProperty: ‸b } }] }',
    ),
    code: 'E_RESOURCE_INVALID',
    message: 'A route has instanceKey or instanceKeyProperty, not both.',
  },
  {
    title: 'a prefix without a property',
    yaml: connection('connectorRef: Connector/web\ningress: { rules: [{ route: { instanceKeyPrefix: ‸room- } }] }'),
    code: 'E_RESOURCE_INVALID',
    message: 'instanceKeyPrefix goes before the value of instanceKeyProperty, which is missing.',
  },
  {
    title: 'N-04 clients that may answer questions, and nothing by which they are known',
    yaml: connection(
      'connectorRef: Connector/web\nanswersQuestions: ‸true\ningress: { rules: [{ route: { instanceKey: a } }] }',
    ),
    code: 'E_RESOURCE_INVALID',
    message: 'answersQuestions: true needs a secret: without one, anybody could answer the questions.',
    suggestion: 'Add a secret, such as `secrets: { token: { valueFrom: { env: NAME } } }`, or remove answersQuestions.',
  },
  {
    title: 'a property that is matched with a list',
    yaml: connection(
      'connectorRef: Connector/web\ningress: { rules: [{ match: { properties: { a: ‸[1] } }, route: {} }] }',
    ),
    code: 'E_RESOURCE_INVALID',
    message:
      'spec.ingress.rules[0].match.properties.a must be a string or a number or true or false or null, not a list.',
  },
  {
    title: 'no swarm with two to choose from',
    yaml: documents(
      connection('connectorRef: Connector/web\ningress: { rules: [{ route: {} }] }').replace(
        'spec:\n  connectorRef',
        '‸spec:\n  connectorRef',
      ),
      swarm().replace('default', 'other'),
    ),
    code: 'E_REF_MISSING',
    message: 'spec.swarmRef is missing, and there is more than one Swarm.',
    suggestion: 'Use one of: Swarm/default, Swarm/other.',
  },
  {
    title: 'a secret that is a list',
    yaml: connection('connectorRef: Connector/web\nsecrets: { key: ‸[] }\ningress: { rules: [{ route: {} }] }'),
    code: 'E_RESOURCE_INVALID',
    message: 'spec.secrets.key must be a string or an object, not an empty list.',
  },
  {
    title: 'a config that does not fit the connector',
    yaml: connection('connectorRef: Connector/web\nconfig: { port: ‸many }\ningress: { rules: [{ route: {} }] }'),
    code: 'E_CONNECTOR_CONFIG',
    message: 'The config does not fit Connector/web: port must be integer.',
  },
  {
    title: 'a setting that the connector does not have',
    yaml: connection('connectorRef: Connector/web\nconfig: ‸{ prot: 1 }\ningress: { rules: [{ route: {} }] }'),
    code: 'E_CONNECTOR_CONFIG',
    message:
      'The config does not fit Connector/web: the value must NOT have additional properties ("prot"); the nearest field is "port".',
  },
  {
    title: 'a config with { value: … } where the connector wants the value itself',
    yaml: connection(
      'connectorRef: Connector/web\nconfig: { port: ‸{ value: 1 } }\ningress: { rules: [{ route: {} }] }',
    ),
    code: 'E_CONNECTOR_CONFIG',
    message:
      'The config does not fit Connector/web: port must be integer; a config does not take { value: … }: write the value itself.',
  },
  {
    title: 'an invalid config schema of a connector',
    yaml: `${head('Connector')}spec: { entry: ./c.ts, configSchema: { type: ‸config } }\n`,
    code: 'E_CONNECTOR_CONFIG',
    message:
      'spec.configSchema is not a JSON Schema: type must be equal to one of the allowed values (["array","boolean","integer","null","number","object","string"]).',
  },
  {
    title: 'a package without a version',
    yaml: `${head('Package')}‸spec: { description: x }\n`,
    code: 'E_RESOURCE_INVALID',
    message: 'spec.version is missing; it must be a string.',
  },
  {
    title: 'a version that YAML reads as a number',
    yaml: `${head('Package')}spec: { version: ‸1.0 }\n`,
    code: 'E_RESOURCE_INVALID',
    message: 'spec.version must be a string, not 1.',
  },
];

const environment = { ANTHROPIC_API_KEY: 'x', KEY: 'x' };

describe.each([
  ['in the structure', structure],
  ['in a Model', models],
  ['in an Agent', agents],
  ['in a Swarm', swarms],
  ['in a Tool or an Extension', toolsAndExtensions],
  ['in a Connection or a Package', connections],
])('a mistake %s', (_where, mistakes) => {
  test.each(mistakes)('R-04 $title', async ({ yaml, files = {}, code, message, suggestion }) => {
    const written = { 'goondan.yaml': yaml, ...files };
    using bundle = temporaryBundle({ ...modules, ...withoutMarks(written) });
    const { errors, warnings } = await loadBundle(bundle.folder, { environment });
    expect(warnings).toEqual([]);
    expect(errors).toMatchObject([
      { code, ...findMark(written), message, suggestion: suggestion ?? expect.stringMatching(/^[A-Z`].*[.?]$/s) },
    ]);
  });
});

function withoutMarks(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([file, text]) => [file, text.replace('‸', '')]));
}

function findMark(files: Readonly<Record<string, string>>) {
  for (const [file, text] of Object.entries(files)) {
    const [before, after] = text.split('‸');
    if (before === undefined || after === undefined) continue;
    const lines = before.split('\n');
    return { file, line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
  }
  throw new Error('The case marks no place.');
}
