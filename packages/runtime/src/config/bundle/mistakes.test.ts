// Tests common mistakes in a bundle, one per case. `‸` marks the place that the problem must name.
import { describe, expect, test } from 'bun:test';
import type { ErrorCode } from '@goondan/types';
import { temporaryBundle } from '../../testing/temporary-bundle.ts';
import type { BundleProblem } from './bundle-problem.ts';
import { loadBundle } from './load-bundle.ts';

/** `files` are more files, in addition to the modules that every case has. */
type Mistake = readonly [title: string, yaml: string, code: ErrorCode, files?: Readonly<Record<string, string>>];

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
const agentWith = (more: string) => agentSpec(`modelConfig: { modelRef: Model/m }\n${more}`);
const modelSpec = (spec: string) => `${head('Model')}spec: ${spec}\n`;
const described = (metadata: string) =>
  `apiVersion: goondan.ai/v1\nkind: Model\nmetadata: { ${metadata} }\nspec: { provider: anthropic, model: m }\n`;
const anthropic = (more: string) => modelSpec(`{ provider: anthropic, model: m, ${more} }`);
const cassette = (more: string) => modelSpec(`{ provider: cassette, model: m, ${more} }`);
const scripted = (rule: string) => modelSpec(`{ provider: scripted, model: m, options: { script: [${rule}] } }`);
const exporting = (exports: string) => `${head('Tool')}spec: { entry: ./t.ts, exports: ${exports} }\n`;
const extensionOf = (entry: string) => `${head('Extension')}spec: { entry: ${entry} }\n`;
const swarmWith = (agents: string, more = '') => documents(model, agent('a'), swarm(agents, more));
const connection = (spec: string) =>
  documents(
    model,
    agent('a'),
    agent('b'),
    swarm(),
    connector,
    `${head('Connection')}spec:\n${spec.replaceAll(/^/gm, '  ')}\n`,
  );
const webConnection = (more: string, rule = '{ route: {} }') =>
  connection(`connectorRef: Connector/web\n${more}ingress: { rules: [${rule}] }`);

const structure: Mistake[] = [
  ['a document that is a list', '‸- a\n- b\n', 'E_RESOURCE_INVALID'],
  ['no kind', '‸apiVersion: goondan.ai/v1\nmetadata: { name: a }\n', 'E_RESOURCE_KIND'],
  [
    'an unknown kind',
    'apiVersion: goondan.ai/v1\nkind: ‸Extention\nmetadata: { name: a }\nspec: { entry: ./e.ts }\n',
    'E_RESOURCE_KIND',
  ],
  [
    'no apiVersion',
    '‸kind: Model\nmetadata: { name: a }\nspec: { provider: anthropic, model: m }\n',
    'E_RESOURCE_INVALID',
  ],
  [
    'another apiVersion',
    'apiVersion: ‸goondan.ai/v2\nkind: Model\nmetadata: { name: a }\nspec: { provider: anthropic, model: m }\n',
    'E_RESOURCE_INVALID',
  ],
  [
    'no metadata',
    '‸apiVersion: goondan.ai/v1\nkind: Model\nspec: { provider: anthropic, model: m }\n',
    'E_RESOURCE_INVALID',
  ],
  [
    'no name',
    'apiVersion: goondan.ai/v1\nkind: Model\n‸metadata: { labels: { a: b } }\nspec: { provider: anthropic, model: m }\n',
    'E_RESOURCE_INVALID',
  ],
  ['a name with two dots in a row', described('name: ‸my..model'), 'E_RESOURCE_NAME'],
  ['a name with a dot at the end', described('name: ‸model.'), 'E_RESOURCE_NAME'],
  ['a name that is a path', described('name: ‸../x'), 'E_RESOURCE_NAME'],
  ['a name that is too long', described(`name: ‸${'a'.repeat(64)}`), 'E_RESOURCE_NAME'],
  ['a label that is a number', described('name: a, labels: { tier: ‸1 }'), 'E_RESOURCE_INVALID'],
  [
    'an unknown key at the top',
    `${head('Model')}‸sepc: {}\nspec: { provider: anthropic, model: m }\n`,
    'E_RESOURCE_KEY',
  ],
  [
    'a mistyped key, which is not also reported as missing',
    `${head('Extension')}spec: { ‸entrie: ./e.ts }\n`,
    'E_RESOURCE_KEY',
  ],
  ['no spec', `‸apiVersion: goondan.ai/v1\nkind: Extension\nmetadata: { name: a }\n`, 'E_RESOURCE_INVALID'],
  ['a spec that is a text', `${head('Extension')}spec: ‸./e.ts\n`, 'E_RESOURCE_INVALID'],
  ['one name in two files', extension('a'), 'E_RESOURCE_DUPLICATE', { 'more.yaml': extension('‸a') }],
  [
    'two names of a kind that differ in case only',
    documents(extension('logBook'), tool('LogBook')),
    'E_RESOURCE_DUPLICATE',
    { 'more.yaml': extension('‸LogBook') },
  ],
  [
    'two extensions of an agent whose names differ in case only',
    documents(extension('log'), agentWith('extensions: [Extension/log, ‸{ ref: Extension/log, as: Log }]')),
    'E_REF_TWICE',
  ],
  [
    'an extension of the swarm and one of an agent whose names differ in case only',
    documents(
      model,
      extension('log'),
      agent('a', ', extensions: [Extension/log]'),
      swarm('Agent/a', ', extensions: [‸{ ref: Extension/log, as: LOG }]'),
    ),
    'E_REF_TWICE',
  ],
  ['a key twice', `${head('Extension')}spec: { entry: ./e.ts, ‸entry: ./e.ts }\n`, 'E_YAML_KEY'],
];

const models: Mistake[] = [
  ['an unknown provider', modelSpec('{ provider: ‸antropic, model: m }'), 'E_RESOURCE_INVALID'],
  ['no provider', `${head('Model')}‸spec: { model: m }\n`, 'E_RESOURCE_INVALID'],
  ['no model', `${head('Model')}‸spec: { provider: anthropic }\n`, 'E_RESOURCE_INVALID'],
  ['an empty model', modelSpec('{ provider: anthropic, model: ‸"" }'), 'E_RESOURCE_INVALID'],
  [
    'no endpoint where one is needed',
    `${head('Model')}‸spec: { provider: openai-compatible, model: m }\n`,
    'E_RESOURCE_INVALID',
  ],
  [
    'an endpoint that is not a URL',
    modelSpec('{ provider: openai-compatible, model: m, endpoint: ‸localhost:11434 }'),
    'E_RESOURCE_INVALID',
  ],
  ['a value source with a mistyped key', anthropic('apiKey: { valueFrom: { ‸evn: KEY } }'), 'E_RESOURCE_KEY'],
  ['a text in an object', anthropic('apiKey: { ‸value: secret }'), 'E_RESOURCE_KEY'],
  ['a value source that is a number', anthropic('apiKey: ‸42'), 'E_RESOURCE_INVALID'],
  ['an unknown option of the provider', anthropic('options: { ‸steam: true }'), 'E_RESOURCE_KEY'],
  ['a timeout of 0', anthropic('options: { timeouts: { totalMs: ‸0 } }'), 'E_RESOURCE_INVALID'],
  ['a setting that is a text', anthropic('params: { temperature: ‸hot }'), 'E_RESOURCE_INVALID'],
  [
    'a script without rules',
    modelSpec('{ provider: scripted, model: m, options: { script: ‸[] } }'),
    'E_RESOURCE_INVALID',
  ],
  ['a rule with a mistyped field', scripted('{ ‸sya: hi }'), 'E_RESOURCE_KEY'],
  ['a rule with an invalid pattern', scripted('‸{ when: "(", say: hi }'), 'E_MODEL_SCRIPT'],
  [
    'a cassette that replays a missing file',
    cassette('options: { mode: replay, file: ‸./tape.jsonl }'),
    'E_CASSETTE_FILE',
  ],
  [
    'a cassette that records no model',
    cassette('‸options: { mode: record, file: ./tape.jsonl }'),
    'E_RESOURCE_INVALID',
  ],
  [
    'a cassette that records itself',
    cassette('options: { mode: record, file: ./t.jsonl, upstream: ‸Model/a }'),
    'E_REF_CYCLE',
  ],
];

const agents: Mistake[] = [
  ['no model', `${head('Agent')}‸spec: { prompt: { system: hi } }\n`, 'E_RESOURCE_INVALID'],
  ['a model that is not declared', agentSpec('modelConfig: { modelRef: ‸Model/n }'), 'E_REF_MISSING'],
  ['a name instead of a reference', agentSpec('modelConfig: { modelRef: ‸m }'), 'E_REF_INVALID'],
  ['a reference of another kind', agentWith('tools: [{ ref: ‸Extension/log }]'), 'E_REF_KIND'],
  ['a reference of an unknown kind', agentWith('tools: [‸Tols/x]'), 'E_REF_INVALID'],
  ['a resource of a package, as npm writes packages', agentWith('tools: [‸"Tool/dice@@acme/tools"]'), 'E_REF_INVALID'],
  [
    'a tool that is not declared, as an object',
    documents(tool('weather'), agentWith('tools: [{ kind: Tool, name: ‸wether }]')),
    'E_REF_MISSING',
  ],
  [
    'an item with a mistyped field',
    documents(extension('log'), agentWith('extensions: [{ ref: Extension/log, ‸confg: {} }]')),
    'E_RESOURCE_KEY',
  ],
  ['an item that is a number', agentWith('tools: [‸7]'), 'E_RESOURCE_INVALID'],
  ['tools that are not a list', agentWith('tools: ‸Tool/x'), 'E_RESOURCE_INVALID'],
  [
    'a package that is not installed',
    agentWith('extensions: [{ ref: { kind: Extension, name: x, package: ‸"@goondan/bas" } }]'),
    'E_PACKAGE_MISSING',
  ],
  [
    'a package that is not one of ours',
    agentWith('extensions: [{ kind: Extension, name: x, package: ‸other }]'),
    'E_PACKAGE_MISSING',
    { 'node_modules/other/package.json': '{}' },
  ],
  [
    'a package whose name is a path',
    agentWith('extensions: [{ kind: Extension, name: ‸x, package: ../../etc }]'),
    'E_REF_INVALID',
  ],
  [
    'an extension twice',
    documents(extension('log'), agentWith('extensions: [Extension/log, ‸{ ref: Extension/log }]')),
    'E_REF_TWICE',
  ],
  [
    'an extension under another name that is taken',
    documents(
      extension('log'),
      extension('other'),
      agentWith('extensions: [Extension/log, ‸{ ref: Extension/other, as: log }]'),
    ),
    'E_REF_TWICE',
  ],
  [
    'an unknown agent in mayAsk',
    documents(agent('critic'), agentWith('mayAsk: [‸Agent/critik]'), swarm()),
    'E_REF_MISSING',
  ],
  [
    'a name in mayAsk that is not a reference',
    documents(agent('critic'), agentWith('mayAsk: [‸critic]'), swarm()),
    'E_REF_INVALID',
  ],
  ['another kind in mayAsk', agentWith('mayAsk: [‸Model/m]'), 'E_REF_KIND'],
  ['an agent in mayAsk twice', agentWith('mayAsk: [Agent/a, ‸Agent/a]'), 'E_REF_TWICE'],
  [
    'an agent in mayAsk that is in another swarm only',
    documents(
      agentWith('mayAsk: [Agent/critic, ‸Agent/critics]'),
      agent('critic'),
      agent('critics'),
      swarm('Agent/a, Agent/critic'),
      `${head('Swarm', 'other')}spec: { entryAgent: Agent/critics, agents: [Agent/critics] }\n`,
    ),
    'E_REF_MISSING',
  ],
  [
    'an invalid other name',
    documents(extension('log'), agentWith('extensions: [{ ref: Extension/log, as: ‸Not_a/name }]')),
    'E_RESOURCE_NAME',
  ],
  ['a missing prompt file', agentWith('prompt: { systemRef: ‸./prompt.md }'), 'E_PROMPT_FILE'],
  ['a prompt and a file', agentWith('prompt: { system: hi, ‸systemRef: ./p.md }'), 'E_RESOURCE_INVALID'],
  ['a prompt outside of the bundle', agentWith('prompt: { systemRef: ‸../../etc/passwd }'), 'E_PATH_OUTSIDE'],
  ['a limit of 0', agentWith('policy: { maxStepsPerTurn: ‸0 }'), 'E_RESOURCE_INVALID'],
  ['a limit that is not a whole number', agentWith('policy: { maxStepsPerTurn: ‸1.5 }'), 'E_RESOURCE_INVALID'],
  ['a reserved variable', agentWith('environment: { ‸LD_PRELOAD: ./x.so }'), 'E_RESOURCE_INVALID'],
  ['a missing working folder', agentWith('workdir: ‸./nowhere'), 'E_RESOURCE_INVALID'],
  ['a limit of a shared process without one', agentWith('maxInstances: ‸20'), 'E_RESOURCE_INVALID'],
];

const swarms: Mistake[] = [
  [
    'a glob that is not closed',
    swarmWith('Agent/a', ', policy: { changes: { allow: [skills/**, ‸"tools/[a"] } }'),
    'E_RESOURCE_INVALID',
  ],
  [
    'a glob that leads out of the bundle',
    swarmWith('Agent/a', ', policy: { changes: { allow: [‸../**] } }'),
    'E_RESOURCE_INVALID',
  ],
  [
    'no agents',
    documents(model, agent('a'), `${head('Swarm', 'default')}spec: { entryAgent: Agent/a, agents: ‸[] }\n`),
    'E_RESOURCE_INVALID',
  ],
  ['an agent that is not declared', swarmWith('Agent/a, { ref: ‸Agent/reviewer }'), 'E_REF_MISSING'],
  [
    'an entry agent that is not one of its agents',
    documents(model, agent('a'), agent('b'), swarm('Agent/b').replace('Agent/a', '‸Agent/a')),
    'E_REF_MISSING',
  ],
  [
    'an innermost extension of a swarm',
    documents(
      model,
      extension('log', ', innermost: true'),
      agent('a'),
      swarm('Agent/a', ', extensions: [‸Extension/log]'),
    ),
    'E_RESOURCE_INVALID',
  ],
  ['an innermost extension for v0.10', extension('a', ', compat: v010, innermost: ‸true'), 'E_RESOURCE_INVALID'],
  ['an agent twice', swarmWith('Agent/a, ‸Agent/a'), 'E_REF_TWICE'],
  [
    'an extension that an agent already has',
    documents(
      model,
      extension('log'),
      agent('a', ', extensions: [Extension/log]'),
      swarm('Agent/a', ', extensions: [‸Extension/log]'),
    ),
    'E_REF_TWICE',
  ],
  [
    'another name that an agent already has',
    documents(
      model,
      extension('log'),
      extension('other'),
      agent('a', ', extensions: [Extension/log]'),
      swarm('Agent/a', ', extensions: [‸{ ref: Extension/other, as: log }]'),
    ),
    'E_REF_TWICE',
  ],
  ['an unknown policy', swarmWith('Agent/a', ', policy: { ‸maxStepPerTurn: 3 }'), 'E_RESOURCE_KEY'],
  ['too many spares', swarmWith('Agent/a', ', policy: { spares: ‸17 }'), 'E_RESOURCE_INVALID'],
];

const toolsAndExtensions: Mistake[] = [
  [
    'a missing entry',
    `${head('Tool')}spec: { entry: ‸./tool.ts, exports: [{ name: get, description: x }] }\n`,
    'E_TOOL_LOAD',
  ],
  ['an entry above the bundle', extensionOf('‸../x.ts'), 'E_PATH_OUTSIDE'],
  ['an absolute entry', `${head('Connector')}spec: { entry: ‸/etc/passwd }\n`, 'E_PATH_OUTSIDE'],
  ['an entry with a NUL', extensionOf('‸"./e.ts\\0.png"'), 'E_PATH_OUTSIDE'],
  ['an entry that is a folder', extensionOf('‸./folder'), 'E_EXT_LOAD', { 'folder/x': '' }],
  ['an entry that is not a module', extensionOf('‸./p.md'), 'E_EXT_LOAD'],
  [
    'an entry that does not parse',
    extensionOf('‸./broken.ts'),
    'E_EXT_LOAD',
    { 'broken.ts': 'export const x = 1;\nexport function register( {\n' },
  ],
  [
    'an entry with several syntax errors',
    extensionOf('‸./broken.ts'),
    'E_EXT_LOAD',
    { 'broken.ts': 'export function register() {\n  const rules = {;\n}\n' },
  ],
  [
    'an import of a package that is not installed',
    extensionOf('‸./imports.ts'),
    'E_EXT_LOAD',
    { 'imports.ts': `import pad from 'left-pad/lib';\nexport const register = () => pad();\n` },
  ],
  [
    'the same import two files deep',
    `${head('Tool')}spec: { entry: ‸./deep.ts, exports: [{ name: get, description: x }] }\n`,
    'E_TOOL_LOAD',
    {
      'deep.ts': `export { handlers } from './lib/one.js';\n`,
      'lib/one.ts': `import '@scope/nothing';\nexport const handlers = {};\n`,
    },
  ],
  [
    'an import of a missing file',
    extensionOf('‸./imports.ts'),
    'E_EXT_LOAD',
    { 'imports.ts': `import { x } from './gone';\nexport const register = x;\n` },
  ],
  ['an empty list of exports', exporting('‸[]'), 'E_RESOURCE_INVALID'],
  ['an export without a description', exporting('[‸{ name: get }]'), 'E_RESOURCE_INVALID'],
  ['an export whose name has two underscores', exporting('[{ name: ‸get__all, description: x }]'), 'E_TOOL_NAME'],
  ['an export whose name has capitals', exporting('[{ name: ‸getAll, description: x }]'), 'E_TOOL_NAME'],
  [
    'a tool name that no provider accepts',
    `${head('Tool', 'a'.repeat(40))}spec: { entry: ./t.ts, exports: [{ name: ‸${'b'.repeat(30)}, description: x }] }\n`,
    'E_TOOL_NAME',
  ],
  ['an export twice', exporting('[{ name: get, description: x }, { name: ‸get, description: y }]'), 'E_REF_TWICE'],
  [
    'parameters that are not a schema',
    exporting('[{ name: get, description: x, parameters: { properties: { city: { type: ‸text } } } }]'),
    'E_TOOL_SCHEMA',
  ],
  ['unknown effects', exporting('[{ name: get, description: x, effects: ‸locale }]'), 'E_RESOURCE_INVALID'],
  [
    'an extension of another version',
    'apiVersion: ‸goondan.io/v1alpha1\nkind: Extension\nmetadata: { name: a }\nspec: { entry: ./e.ts }\n',
    'E_EXT_COMPAT',
  ],
  ['the removed field `runtime`', `${head('Extension')}spec: { ‸runtime: node, entry: ./e.ts }\n`, 'E_EXT_COMPAT'],
  [
    'a config that does not fit, by the agent',
    documents(
      extension('log', ', configSchema: { properties: { level: { enum: [info, debug] } } }'),
      agentWith('extensions: [{ ref: Extension/log, config: { level: ‸loud } }]'),
    ),
    'E_EXT_CONFIG',
  ],
  [
    'a config that does not fit, by the extension itself',
    documents(
      extension('log', ', config: { max: ‸many }, configSchema: { properties: { max: { type: number } } }'),
      agentWith('extensions: [Extension/log]'),
    ),
    'E_EXT_CONFIG',
  ],
  ['an invalid config schema', extension('log', ', configSchema: { type: ‸config }'), 'E_EXT_CONFIG'],
  [
    'a value from the environment that is malformed, deep in a config',
    extension('log', ', config: { a: [{ b: { ‸valueFrom: { secret: X } } }] }'),
    'E_RESOURCE_INVALID',
  ],
  [
    'a config of a tool that does not fit, by the agent',
    documents(
      tool('shell', ', config: { max: 1 }, configSchema: { properties: { max: { type: number } } }'),
      agentWith('tools: [{ ref: Tool/shell, config: { max: ‸many } }]'),
    ),
    'E_TOOL_CONFIG',
  ],
  [
    'a config of a tool that does not fit, by the tool itself',
    documents(
      tool('shell', ', config: { max: ‸many }, configSchema: { properties: { max: { type: number } } }'),
      agentWith('tools: [Tool/shell]'),
    ),
    'E_TOOL_CONFIG',
  ],
  ['an invalid config schema of a tool', tool('shell', ', configSchema: { required: ‸config }'), 'E_TOOL_CONFIG'],
  [
    'a config for the tools of the runtime, which have none',
    agentWith('tools: [{ ref: Tool/agents, ‸config: { target: x } }]'),
    'E_TOOL_CONFIG',
  ],
  [
    'a malformed value in the config of a tool',
    tool('shell', ', config: { a: { ‸valueFrom: {} } }'),
    'E_RESOURCE_INVALID',
  ],
  [
    'a malformed value in the config that an agent gives a tool',
    documents(tool('shell'), agentWith('tools: [{ ref: Tool/shell, config: { ‸valueFrom: X } }]')),
    'E_RESOURCE_INVALID',
  ],
];

const connections: Mistake[] = [
  [
    'a connector that is not declared',
    connection('connectorRef: ‸Connector/wob\ningress: { rules: [{ route: {} }] }'),
    'E_REF_MISSING',
  ],
  ['no rules', connection('connectorRef: Connector/web\ningress: { rules: ‸[] }'), 'E_RESOURCE_INVALID'],
  ['a rule without a route', webConnection('', '‸{ match: { event: message } }'), 'E_RESOURCE_INVALID'],
  [
    'an event that the connector does not have',
    webConnection('', '{ match: { event: ‸mesage }, route: {} }'),
    'E_REF_MISSING',
  ],
  ['an agent of another swarm', webConnection('', '{ route: { agentRef: ‸Agent/b } }'), 'E_REF_MISSING'],
  [
    'two keys for one instance',
    webConnection('', '{ route: { instanceKey: a, instanceKeyProperty: ‸b } }'),
    'E_RESOURCE_INVALID',
  ],
  ['a prefix without a property', webConnection('', '{ route: { instanceKeyPrefix: ‸room- } }'), 'E_RESOURCE_INVALID'],
  [
    'N-04 clients that may answer questions, and nothing by which they are known',
    webConnection('answersQuestions: ‸true\n', '{ route: { instanceKey: a } }'),
    'E_RESOURCE_INVALID',
  ],
  [
    'a property that is matched with a list',
    webConnection('', '{ match: { properties: { a: ‸[1] } }, route: {} }'),
    'E_RESOURCE_INVALID',
  ],
  [
    'no swarm with two to choose from',
    documents(
      webConnection('').replace('spec:\n  connectorRef', '‸spec:\n  connectorRef'),
      swarm().replace('default', 'other'),
    ),
    'E_REF_MISSING',
  ],
  ['a secret that is a list', webConnection('secrets: { key: ‸[] }\n'), 'E_RESOURCE_INVALID'],
  ['a config that does not fit the connector', webConnection('config: { port: ‸many }\n'), 'E_CONNECTOR_CONFIG'],
  ['a setting that the connector does not have', webConnection('config: ‸{ prot: 1 }\n'), 'E_CONNECTOR_CONFIG'],
  [
    'a config with { value: … } where the connector wants the value itself',
    webConnection('config: { port: ‸{ value: 1 } }\n'),
    'E_CONNECTOR_CONFIG',
  ],
  [
    'an invalid config schema of a connector',
    `${head('Connector')}spec: { entry: ./c.ts, configSchema: { type: ‸config } }\n`,
    'E_CONNECTOR_CONFIG',
  ],
  ['a package without a version', `${head('Package')}‸spec: { description: x }\n`, 'E_RESOURCE_INVALID'],
  ['a version that YAML reads as a number', `${head('Package')}spec: { version: ‸1.0 }\n`, 'E_RESOURCE_INVALID'],
];

const short = (lines: string, name = 'news') => `${head('Agent', name)}${lines}\n`;
const compatible = (fields: string) => short(`spec:\n  model: ${fields}`);
const shortForms: Mistake[] = [
  ['a mistyped provider', short('spec: { model: ‸anthropc/claude-sonnet-4-5 }'), 'E_REF_INVALID'],
  ['an unknown provider', short('spec: { model: ‸ollama/qwen3:8b }'), 'E_REF_INVALID'],
  ['a mistyped provider beside a URL', compatible('{ provider: ‸openai-compatibel, model: m }'), 'E_RESOURCE_INVALID'],
  ['no name of a model', short('spec: { model: ‸anthropic/ }'), 'E_REF_INVALID'],
  ['no provider', short('spec: { model: ‸claude-sonnet-4-5 }'), 'E_REF_INVALID'],
  ['no URL in the text', short('spec: { model: ‸openai-compatible/org/llama3 }'), 'E_REF_INVALID'],
  [
    'no URL beside the provider',
    short('spec: { ‸model: { provider: openai-compatible, model: m } }'),
    'E_RESOURCE_INVALID',
  ],
  [
    'a URL without its protocol',
    compatible('{ provider: openai-compatible, model: m, endpoint: ‸localhost:11434/v1 }'),
    'E_RESOURCE_INVALID',
  ],
  [
    'a field that models do not have',
    compatible('{ provider: openai, model: m, ‸url: http://localhost:11434/v1 }'),
    'E_RESOURCE_KEY',
  ],
  [
    'both forms of the model',
    short('spec:\n  model: openai/gpt-5\n  ‸modelConfig: { modelRef: openai/gpt-5 }'),
    'E_RESOURCE_KEY',
  ],
  ['the URL of a server', short('spec: { model: ‸http://localhost:1/v1 }'), 'E_REF_INVALID'],
  ['a Model that is not there', documents(model, short('spec: { model: ‸Model/main }')), 'E_REF_MISSING'],
  [
    'a mistyped name of a model that another agent has',
    documents(
      compatible('{ provider: openai, model: m }'),
      short('spec: { model: ‸Model/nwes }', 'a'),
      swarm().replace('[Agent/a]', '[Agent/a, Agent/news]'),
    ),
    'E_REF_MISSING',
  ],
  [
    'a broken agent, whose swarm is not reported as missing',
    documents(short('spec: ‸7'), connector, `${head('Connection')}spec: { connectorRef: Connector/web }\n`),
    'E_RESOURCE_INVALID',
  ],
  ['a mistyped kind of reference', documents(model, short('spec: { model: ‸Modle/m }')), 'E_REF_INVALID'],
  [
    'a recording that is not there',
    compatible('{ provider: cassette, model: m, options: { mode: replay, file: ‸./tape.jsonl } }'),
    'E_CASSETTE_FILE',
  ],
  ['a model that is a list', short('spec: { model: ‸[openai/gpt-5] }'), 'E_RESOURCE_INVALID'],
  ['a mistyped model', short('spec: { ‸modle: openai/gpt-5 }'), 'E_RESOURCE_KEY'],
  [
    'two agents',
    documents(short('spec: { model: openai/m }', 'a'), short('spec: { model: openai/m }', '‸b')),
    'E_SWARM_UNKNOWN',
  ],
  [
    'a Model with the name of the agent that has its own',
    documents(model, short('spec: { model: ‸{ provider: openai, model: m } }', 'm')),
    'E_RESOURCE_DUPLICATE',
  ],
];

const environment = { ANTHROPIC_API_KEY: 'x', OPENAI_API_KEY: 'x', KEY: 'x' };

describe.each([
  ['in the structure', structure],
  ['in a Model', models],
  ['in an Agent', agents],
  ['in a Swarm', swarms],
  ['in a Tool or an Extension', toolsAndExtensions],
  ['in a Connection or a Package', connections],
  ['in the short form', shortForms],
])('a mistake %s', (_where, mistakes) => {
  test.each(mistakes)('R-04 %s', async (_title, yaml, code, files = {}) => {
    const written = { 'goondan.yaml': yaml, ...files };
    using bundle = temporaryBundle({ ...modules, ...withoutMarks(written) });
    const { errors, warnings } = await loadBundle(bundle.folder, { environment });
    expect(warnings).toEqual([]);
    expect(errors.map(toText).join('\n')).toMatchSnapshot();
    expect(errors).toMatchObject([
      { code, ...findMark(written), suggestion: expect.stringMatching(/^[A-Z`].*[.?]$/s) },
    ]);
  });
});

/** The list of what the base library has is not of interest here. */
function toText({ message, suggestion = '' }: BundleProblem): string {
  return `${message} ${suggestion.replace(/(@goondan\/base has ).*/s, '$1…')}`;
}

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
