// An agent that may write any file (`allow: ['**']`) tries to get more than a changeset may give. Each case is one attempt.
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { sampledCases } from '../../../../../../test/samples.ts';
import { temporaryBundle } from '../../../testing/temporary-bundle.ts';
import type { Examination, ExaminationRequest } from '../../examination.ts';
import { type EditedTexts, examineTexts } from './examine-texts.ts';

const resource = (kind: string, name: string, spec: string, metadata = '') =>
  `apiVersion: goondan.ai/v1\nkind: ${kind}\nmetadata: { name: ${name}${metadata} }\nspec: ${spec}\n`;
const documents = (...texts: readonly string[]) => texts.join('---\n');
const script = '{ provider: scripted, model: m, options: { script: [{ say: hi }] } }';
const toolSpec = (entry: string, more = '') =>
  `{ entry: ${entry}, exports: [{ name: run, description: Runs.${more} }] }`;

const coder = `{ modelConfig: { modelRef: Model/main }, prompt: { systemRef: prompts/coder.md },
  description: Writes code., mayAsk: [Agent/helper], policy: { maxStepsPerTurn: 5 },
  environment: { REGION: { valueFrom: { env: REGION } } },
  tools: [Tool/shell, { ref: Tool/added, config: { size: 1 } }],
  extensions: [{ ref: Extension/guard, config: { strict: true, run: { command: [bun, skills/review/check.ts] } } }, Extension/notes] }`;
const coderExtensions = coder.slice(coder.indexOf('extensions:'));
const swarm = `{ entryAgent: Agent/coder, agents: [Agent/coder, Agent/helper], extensions: [Extension/outer],
  policy: { maxStepsPerTurn: 9, changes: { allow: ['**'], approve: true } } }`;
const files: Readonly<Record<string, string>> = {
  'goondan.yaml': documents(
    resource('Model', 'main', script),
    resource('Model', 'spare', script),
    resource('Swarm', 'default', swarm),
    resource('Swarm', 'other', '{ entryAgent: Agent/lonely, agents: [Agent/lonely] }'),
  ),
  'agents.yaml': documents(
    resource('Agent', 'coder', coder),
    resource(
      'Agent',
      'helper',
      '{ modelConfig: { modelRef: Model/main }, prompt: { system: You help. }, extensions: [{ ref: Extension/skills, config: { folders: [./knowledge] } }] }',
    ),
    resource(
      'Agent',
      'lonely',
      '{ modelConfig: { modelRef: Model/main }, prompt: { systemRef: prompts/lonely.md }, extensions: [Extension/guard] }',
    ),
    resource('Agent', 'unused', '{ modelConfig: { modelRef: Model/main } }'),
  ),
  'parts.yaml': documents(
    resource('Tool', 'shell', toolSpec('./tools/shell.ts', ', effects: external')),
    resource('Tool', 'added', toolSpec('./tools/added.ts')),
    resource('Tool', 'idle', toolSpec('./tools/idle.ts')),
    resource(
      'Extension',
      'guard',
      '{ entry: ./extensions/guard.ts, config: { rules: data/rules.md, tool: deploy__run, tools: [get*, "*__read", "*__*", "*"], policies: ./policies, more: "limits/*.md", root: ., message: Use other tools } }',
    ),
    resource(
      'Extension',
      'notes',
      '{ entry: ./extensions/notes.ts }',
      ', annotations: { goondan.ai/keeper: ./extensions/keeper.ts }',
    ),
    resource(
      'Extension',
      'outer',
      '{ entry: ./extensions/outer.ts, config: { manuals: ./skills, url: https://host/prompts } }',
    ),
    resource('Connector', 'web', '{ entry: ./connectors/web.ts }'),
    resource(
      'Connection',
      'door',
      '{ connectorRef: Connector/web, swarmRef: Swarm/default, ingress: { rules: [{ route: {} }] } }',
    ),
  ),
  'rules.yaml': 'forbidden: [rm]\n',
  'prompts/coder.md': 'You write code.\n',
  'prompts/lonely.md': 'You are alone.\n',
  'prompts/limits.md': 'Never delete files.\n',
  'data/rules.md': '# Rules\n',
  'data/SKILL.md': '# A skill\n',
  'skills/review/SKILL.md': '---\nname: review\ndescription: Reviews.\n---\n',
  'skills/review/list.md': 'One.\n',
  'skills/review/check.ts': "import './check-lib.ts';\n",
  'skills/review/check-lib.ts': 'export {};\n',
  'skills/review/limits.md': 'No.\n',
  'skills/mine/SKILL.md': '# A skill of an earlier changeset\n',
  'skills/mine/operator.md': 'Written by hand.\n',
  'extra/free.ts': 'export const handlers = { run: () => 1 };\n',
  'tools/shell.ts': "import { run } from './lib/run';\nexport const handlers = { run };\n",
  'tools/lib/run.ts': 'export const run = () => 1;\n',
  'tools/added.ts':
    "import { text } from './added/text.ts';\nimport { run } from './lib/run';\nexport const handlers = { run: () => text + run() };\n",
  'tools/added/text.ts': "export const text = 'old';\n",
  'tools/idle.ts': 'export const handlers = { run: () => 1 };\n',
  'extensions/guard.ts': `import { policy } from './policy';
import rules from './rules.json';
import hidden from 'hidden';
import '@/aliased';
import '../skills/review/list.md' with { type: 'text' };
export function register() { Bun.file('skills/review/limits.md'); require('./lazy'); void import('./later/index.ts'); void import('./optional.ts').catch(() => 0); return [policy, rules, hidden]; }
`,
  'extensions/policy.ts': 'export const policy = 1;\n',
  'extensions/rules.json': '{}\n',
  'extensions/lazy.ts': 'export {};\n',
  'extensions/later/index.ts': 'export {};\n',
  'extensions/notes.ts': 'export function register() {}\n',
  'extensions/keeper.ts': "import './kept.ts';\nexport function keep() {}\n",
  'extensions/kept.ts': 'export {};\n',
  'extensions/outer.ts': "import 'own';\nexport function register() {}\n",
  'connectors/web.ts': "import './web-lib';\nexport default async () => {};\n",
  'connectors/web-lib.ts': 'export {};\n',
  'lib/aliased.ts': 'export {};\n',
  'tsconfig.json': '{ "compilerOptions": { "baseUrl": ".", "paths": { "@/*": ["./lib/*"] } } }\n',
  'package.json': '{ "name": "bundle" }\n',
  'bunfig.toml': '',
  '.env': 'SECRET=hunter22\n',
  'node_modules/hidden/package.json': '{ "name": "hidden", "main": "index.js" }',
  'node_modules/hidden/index.js': 'module.exports = 1;\n',
  'packages/own/package.json': '{ "name": "own", "main": "index.js" }',
  'packages/own/index.js': "require('./inner');\n",
  'packages/own/inner.js': '',
};
const addedFiles = ['tools/added.ts', 'tools/added/text.ts', 'extensions/notes.ts', 'skills/mine/SKILL.md'];
const text = (file: string) => files[file] ?? '';
const agents = (from: string, to: string) => ({ 'agents.yaml': replaced(text('agents.yaml'), from, to) });
const parts = (from: string, to: string) => ({ 'parts.yaml': replaced(text('parts.yaml'), from, to) });
const main = (from: string, to: string) => ({ 'goondan.yaml': replaced(text('goondan.yaml'), from, to) });
/** Adds documents in a new file, and gives the agent `coder` a reference. */
const added = (...texts: readonly string[]) => ({ 'new.yaml': documents(...texts) });
const withTool = (item: string) => agents('config: { size: 1 } }]', `config: { size: 1 } }, ${item}]`);
const withExtension = (item: string) => agents('Extension/notes]', `Extension/notes, ${item}]`);
const code = { 'tools/new.ts': 'export const handlers = { run: () => 1 };\n' };
const layer = { 'extensions/new.ts': 'export function register() {}\n' };
const newTool = resource('Tool', 'new', toolSpec('./tools/new.ts'));
const newExtension = resource('Extension', 'new', '{ entry: ./extensions/new.ts, innermost: true }');
const promptAt = (file: string) => agents('systemRef: prompts/coder.md', `systemRef: ${file}`);
/** Adds a tool, and writes the file of its code. */
const toolAt = (file: string, content = 'export const handlers = {};\n') => ({
  ...added(resource('Tool', 'new', toolSpec(`./${file}`))),
  [file]: content,
});
const toolWith = (spec: string, name = 'new') => ({ ...added(resource('Tool', name, spec)), ...code });
const extensionWith = (more = '', metadata = '') => ({
  ...added(resource('Extension', 'new', `{ entry: ./extensions/new.ts${more} }`, metadata)),
  ...layer,
});

function replaced(whole: string, from: string, to: string): string {
  if (!whole.includes(from)) throw new Error(`There is no ${from}.`);
  return whole.replace(from, to);
}

const bundle = temporaryBundle(files);
symlinkSync('../packages/own', join(bundle.folder, 'node_modules/own'));
symlinkSync('../data', join(bundle.folder, 'skills/linked'));
symlinkSync('../.env', join(bundle.folder, 'prompts/linked.md'));
symlinkSync('../tools/shell.ts', join(bundle.folder, 'extra/linked.ts'));
mkdirSync(join(bundle.folder, 'skills/empty'));
afterAll(() => bundle[Symbol.dispose]());

function examine(texts: EditedTexts, request: Pick<Partial<ExaminationRequest>, 'allow'> = {}): Promise<Examination> {
  const source = { bundleFolder: bundle.folder, environment: { REGION: 'eu', OTHER: 'other-value' }, swarm: 'default' };
  return examineTexts(source, texts, { addedTools: ['added'], addedFiles, ...request });
}

type Attempt = readonly [title: string, texts: EditedTexts, sentence: string, request?: Partial<ExaminationRequest>];

const groups: Readonly<Record<string, readonly Attempt[]>> = {
  'the guards of an agent': [
    ['removes an extension', agents(', Extension/notes]', ']'), 'changed, removed or moved'],
    ['removes all extensions', agents('extensions: [Extension/guard]', 'extensions: []'), 'changed, removed or moved'],
    [
      'moves an extension',
      agents(coderExtensions, coderExtensions.replace(/\[(.*), (Extension\/notes)\]/, '[$2, $1]')),
      'changed, removed or moved',
    ],
    [
      'puts a new extension before the others',
      { ...agents('extensions: [{ ref', 'extensions: [Extension/new, { ref'), ...added(newExtension), ...layer },
      'Add new items at the end',
    ],
    ['changes the config of an extension in the agent', agents('strict: true', 'strict: false'), 'item is changed'],
    ['changes the config of an extension', parts('data/rules.md', 'data/none.md'), 'Extension/guard is changed'],
    [
      'changes the entry of an extension',
      parts('entry: ./extensions/guard.ts', 'entry: ./extensions/notes.ts'),
      'Extension/guard is changed',
    ],
    [
      'lists an extension of the base library',
      withExtension('{ kind: Extension, name: logging, package: "@goondan/base" }'),
      'may not be added',
    ],
    [
      'adds an extension with the code of another extension',
      {
        ...added(resource('Extension', 'new', '{ entry: ./extensions/outer.ts, innermost: true }')),
        ...withExtension('Extension/new'),
      },
      'extensions/outer.ts was not created by a changeset',
    ],
    [
      'adds an extension that is not innermost',
      {
        ...extensionWith(),
        ...withExtension('Extension/new'),
      },
      'Add innermost: true',
    ],
    [
      'adds an extension to an agent of another swarm',
      {
        ...added(newExtension),
        ...layer,
        ...agents('extensions: [Extension/guard] }', 'extensions: [Extension/guard, Extension/new] }'),
      },
      'only agents of its own swarm',
    ],
    [
      'changes the prompt of an agent of another swarm',
      agents('prompt: { systemRef: prompts/lonely.md }', 'prompt: { system: Obey. }'),
      'Swarm/default does not have this agent',
    ],
    [
      'changes an agent of no swarm',
      agents('name: unused }\nspec: {', 'name: unused }\nspec: { prompt: { system: Obey. },'),
      'Swarm/default does not have this agent',
    ],
    [
      'writes the prompt file of an agent of another swarm',
      { 'prompts/lonely.md': 'Obey.\n' },
      'Agent/lonely of Swarm/other would be changed',
    ],
    [
      'adds an extension that is not innermost to an agent of another swarm',
      {
        ...extensionWith(', innermost: false'),
        ...agents('extensions: [Extension/guard] }', 'extensions: [Extension/guard, Extension/new] }'),
      },
      'Add innermost: true',
    ],
    ['lists another extension of the bundle', withExtension('{ ref: Extension/outer, as: again }'), 'may not be added'],
    [
      'gives an extension the tier of hooks',
      {
        ...extensionWith(', innermost: true', ', annotations: { goondan.ai/tier: hook }'),
        ...withExtension('Extension/new'),
      },
      'annotations',
    ],
    [
      'gives an extension a keeper',
      extensionWith(', innermost: true', ', annotations: { goondan.ai/keeper: ./extensions/new.ts }'),
      'annotations',
    ],
    [
      'gives an extension another name',
      { ...added(newExtension), ...layer, ...withExtension('{ ref: Extension/new, as: hooks }') },
      'another name',
    ],
    ['adds an exclusive extension', extensionWith(', exclusive: true'), 'spec.exclusive'],
    ['adds an extension for v0.10', extensionWith(', compat: v010'), 'spec.compat'],
    [
      'adds an extension that uses the adapter for v0.10',
      {
        ...added(newExtension),
        'extensions/new.ts': "import './inner.ts';\nexport function register() {}\n",
        'extensions/inner.ts': "void import('@goondan/v010').catch(() => 0);\n",
      },
      'uses @goondan/v010',
    ],
    [
      'adds hooks',
      agents(
        'description: Writes code.',
        'hooks: [{ point: turn.pre, action: { command: [env] } }], description: Writes code.',
      ),
      'spec.hooks is changed',
    ],
    [
      'adds an extension to the swarm',
      {
        ...main('extensions: [Extension/outer]', 'extensions: [Extension/outer, Extension/new]'),
        ...extensionWith(),
      },
      'Swarm/default is changed',
    ],
  ],
  'the effects of tools': [
    ['lowers the effects of a tool', parts('effects: external', 'effects: none'), 'Tool/shell is changed'],
    [
      'lowers the effects with an alias',
      parts('description: Runs., effects: external', 'description: &none none, effects: *none'),
      'Tool/shell is changed',
    ],
    [
      'adds a tool without effects',
      toolWith(toolSpec('./tools/new.ts', ', effects: none')),
      'the effects of a new Tool are external',
    ],
    [
      'adds a tool with local effects',
      toolWith(toolSpec('./tools/new.ts', ', effects: local')),
      'the effects of a new Tool are external',
    ],
    ['adds a tool that declares its effects in code', toolWith('{ entry: ./tools/new.ts }'), 'no spec.exports'],
    [
      'changes the exports of a tool that was added earlier',
      parts(
        './tools/added.ts, exports: [{ name: run, description: Runs. }]',
        './tools/added.ts, exports: [{ name: run, description: Runs., effects: none }]',
      ),
      'Tool/added is changed',
    ],
    [
      'lets an earlier tool use other code',
      parts('entry: ./tools/added.ts', 'entry: ./tools/shell.ts'),
      'Tool/added is changed',
    ],
    ['changes the config of a tool in the agent', agents('size: 1', 'size: 2'), 'item is changed'],
    ['lists a tool that no agent had', withTool('Tool/idle'), 'may not be added'],
    ['lists a tool of the base library', withTool('Tool/bash'), 'may not be added'],
    ['lists a tool of a package', withTool('{ kind: Tool, name: bash, package: "@goondan/base" }'), 'may not be added'],
    ['lists the tools for other agents', withTool('Tool/agents'), 'may not be added'],
    [
      'adds a tool with a name that a rule uses',
      toolWith(toolSpec('./tools/new.ts'), 'deploy'),
      'settings of Extension/guard use',
    ],
    ...['get-all', 'GetIt'].map((name): Attempt => [
      `adds a tool with a name that a pattern of a rule matches: ${name}`,
      toolWith(toolSpec('./tools/new.ts'), name),
      `${name}__run matches "get*" in the settings of Extension/guard`,
    ]),
    [
      'adds a tool with an export that a pattern of a rule matches',
      toolWith('{ entry: ./tools/new.ts, exports: [{ name: read, description: Reads. }] }'),
      'new__read matches "*__read" in the settings of Extension/guard',
    ],
    [
      'adds a tool with the code of another tool',
      { ...added(resource('Tool', 'new', toolSpec('./tools/shell.ts'))), ...withTool('Tool/new') },
      'tools/shell.ts was not created by a changeset',
    ],
    [
      'adds a tool with the code of another tool through a link',
      { ...added(resource('Tool', 'new', toolSpec('./extra/linked.ts'))), ...withTool('Tool/new') },
      'extra/linked.ts was not created by a changeset',
    ],
    [
      'adds an exclusive tool',
      toolWith('{ entry: ./tools/new.ts, exclusive: true, exports: [{ name: run, description: x }] }'),
      'spec.exclusive',
    ],
  ],
  'the rights of agents and swarms': [
    [
      'widens mayAsk',
      agents('mayAsk: [Agent/helper]', 'mayAsk: [Agent/helper, Agent/coder]'),
      'spec.mayAsk is changed',
    ],
    ['removes mayAsk', agents('mayAsk: [Agent/helper], ', ''), 'spec.mayAsk is changed'],
    ['raises a limit of the agent', agents('maxStepsPerTurn: 5', 'maxStepsPerTurn: 500'), 'spec.policy is changed'],
    [
      'changes the model',
      agents('modelRef: Model/main }, prompt: { systemRef', 'modelRef: Model/spare }, prompt: { systemRef'),
      'spec.modelConfig is changed',
    ],
    [
      'names a model of a provider',
      agents(
        'modelRef: Model/main }, prompt: { systemRef',
        'modelRef: Model/main, models: [anthropic/claude] }, prompt: { systemRef',
      ),
      'spec.modelConfig is changed',
    ],
    [
      'changes the description of an agent',
      agents('Writes code.', 'Approves everything.'),
      'spec.description is changed',
    ],
    [
      'sets a working folder',
      agents('description: Writes code.', 'workdir: ., description: Writes code.'),
      'spec.workdir is changed',
    ],
    [
      'adds labels to an agent',
      { 'agents.yaml': text('agents.yaml').replace('{ name: coder }', '{ name: coder, labels: { a: b } }') },
      'metadata is changed',
    ],
    [
      'changes an agent that no swarm uses',
      agents(
        'metadata: { name: unused }\nspec: { modelConfig',
        'metadata: { name: unused }\nspec: { mayAsk: [], modelConfig',
      ),
      'spec.mayAsk is changed',
    ],
    [
      'changes another swarm',
      main('agents: [Agent/lonely]', 'agents: [Agent/lonely, Agent/coder]'),
      'Swarm/other is changed',
    ],
    [
      'makes another agent the entry agent',
      main('entryAgent: Agent/coder', 'entryAgent: Agent/helper'),
      'Swarm/default is changed',
    ],
    ['widens the policy of changes', main('approve: true', 'approve: false'), 'Swarm/default is changed'],
    ['raises a limit of the swarm', main('maxStepsPerTurn: 9', 'maxStepsPerTurn: 90'), 'Swarm/default is changed'],
    [
      'moves the swarm to another workspace',
      main('policy: {', 'workspace: mine, policy: {'),
      'Swarm/default is changed',
    ],
    [
      'adds a swarm',
      added(resource('Swarm', 'third', '{ entryAgent: Agent/coder, agents: [Agent/coder] }')),
      'adds only Tools and Extensions',
    ],
    [
      'adds an agent',
      added(resource('Agent', 'third', '{ modelConfig: { modelRef: Model/main } }')),
      'adds only Tools and Extensions',
    ],
    ['adds a model', added(resource('Model', 'third', script)), 'adds only Tools and Extensions'],
    ['adds a package', added(resource('Package', 'third', '{ version: 1.0.0 }')), 'adds only Tools and Extensions'],
    [
      'adds a connection',
      added(
        resource(
          'Connection',
          'third',
          '{ connectorRef: Connector/web, swarmRef: Swarm/default, ingress: { rules: [{ route: {} }] } }',
        ),
      ),
      'adds only Tools and Extensions',
    ],
    [
      'changes a connection',
      parts('{ rules: [{ route: {} }] }', '{ rules: [{ route: { agentRef: Agent/helper } }] }'),
      'Connection/door is changed',
    ],
    ['changes the script of a model', main('say: hi', 'say: ho'), 'Model/main is changed'],
    [
      'removes a resource that nothing uses',
      { 'goondan.yaml': documents(...text('goondan.yaml').split('---\n').toSpliced(1, 1)) },
      'Model/spare is removed',
    ],
    [
      'deletes a YAML file',
      { 'agents.yaml': null, 'more.yaml': documents(...text('agents.yaml').split('---\n').slice(0, 3)) },
      'Agent/unused is removed',
    ],
  ],
  'values of the environment': [
    [
      'reads a value in a new tool',
      toolWith(
        '{ entry: ./tools/new.ts, exports: [{ name: run, description: x }], config: { key: { valueFrom: { env: OTHER } } } }',
      ),
      'valueFrom',
    ],
    [
      'reads a value in a new extension',
      extensionWith(', config: { list: [{ deep: { valueFrom: { env: OTHER } } }] }'),
      'valueFrom',
    ],
    [
      'reads a value where the agent lists a tool',
      { ...added(newTool), ...code, ...withTool('{ ref: Tool/new, config: { key: { valueFrom: { env: OTHER } } } }') },
      'valueFrom',
    ],
    [
      'reads a value where the agent lists an earlier tool',
      agents(
        'metadata: { name: helper }\nspec: { modelConfig',
        'metadata: { name: helper }\nspec: { tools: [{ ref: Tool/added, config: { key: { valueFrom: { env: OTHER } } } }], modelConfig',
      ),
      'valueFrom',
    ],
    [
      'gives the process another variable',
      agents('REGION: { valueFrom: { env: REGION } }', 'REGION: { valueFrom: { env: OTHER } }'),
      'spec.environment is changed',
    ],
    ['uses .env as a prompt', promptAt('./.env'), 'holds values of the environment'],
    ['uses a link to .env as a prompt', promptAt('prompts/linked.md'), 'was not a prompt before'],
    ['uses another file as a prompt', promptAt('data/rules.md'), 'was not a prompt before'],
    [
      'uses package.json as a prompt',
      agents('prompt: { system: You help. }', 'prompt: { systemRef: package.json }'),
      'package.json',
    ],
    ['edits .env', { '.env': 'REGION=us\n' }, 'holds values of the environment'],
    ['adds .env.local', { '.env.local': 'X=1\n' }, 'holds values of the environment'],
  ],
  'the code of existing parts': [
    ['edits an extension', { 'extensions/guard.ts': 'export function register() {}\n' }, 'part of Extension/guard'],
    [
      'edits a file that an extension imports',
      { 'extensions/policy.ts': 'export const policy = 0;\n' },
      'part of Extension/guard',
    ],
    ['edits JSON that an extension imports', { 'extensions/rules.json': '[]\n' }, 'part of Extension/guard'],
    [
      'edits a file that an extension requires',
      { 'extensions/lazy.ts': 'export const a = 1;\n' },
      'part of Extension/guard',
    ],
    ['edits a file of import()', { 'extensions/later/index.ts': 'export const a = 1;\n' }, 'part of Extension/guard'],
    ['edits a file that tsconfig.json names', { 'lib/aliased.ts': 'export const a = 1;\n' }, 'part of Extension/guard'],
    ['edits a skill file that an extension imports', { 'skills/review/list.md': 'Two.\n' }, 'part of Extension/guard'],
    [
      'edits a skill file that an extension reads',
      { 'skills/review/limits.md': 'Yes.\n' },
      'named in extensions/guard.ts',
    ],
    ['edits a file of a skill that the config names', { 'data/rules.md': '# None\n' }, 'settings of Extension/guard'],
    ['edits a skill file that a command runs', { 'skills/review/check.ts': '\n' }, 'Agent/coder'],
    ['edits a skill file that a command imports', { 'skills/review/check-lib.ts': '\n' }, 'Agent/coder'],
    ['edits a keeper', { 'extensions/keeper.ts': 'export function keep() {}\n' }, 'part of Extension/notes'],
    ['edits a file that a keeper imports', { 'extensions/kept.ts': '\n' }, 'part of Extension/notes'],
    ['edits a connector', { 'connectors/web.ts': 'export default () => {};\n' }, 'part of Connector/web'],
    [
      'edits a file that a connector imports',
      { 'connectors/web-lib.ts': 'export const a = 1;\n' },
      'part of Connector/web',
    ],
    ['edits a tool', { 'tools/shell.ts': 'export const handlers = { run: () => 2 };\n' }, 'part of Tool/shell'],
    [
      'edits a tool that no agent uses',
      { 'tools/idle.ts': 'export const handlers = { run: () => 2 };\n' },
      'part of Tool/idle',
    ],
    [
      'edits a file that an earlier tool shares with another',
      { 'tools/lib/run.ts': 'export const run = () => 2;\n' },
      'part of Tool/shell',
    ],
    [
      'edits an extension that an earlier changeset added',
      { 'extensions/notes.ts': 'export function register() { return 1; }\n' },
      'part of Extension/notes',
    ],
    ['makes an extension a new tool and edits it', toolAt('extensions/guard.ts'), 'part of Extension/guard'],
    [
      'makes an extension a prompt and edits it',
      { ...promptAt('extensions/policy.ts'), 'extensions/policy.ts': 'x' },
      'part of Extension/guard',
    ],
    [
      'edits a package in the bundle',
      toolAt('packages/own/index.js', 'exports.handlers = {};\n'),
      'packages/own/index.js',
    ],
    [
      'edits a file inside a package',
      toolAt('packages/own/inner.js', 'exports.handlers = {};\n'),
      'packages/own/inner.js',
    ],
    ['adds a file with an ending that wins', toolAt('extensions/policy.tsx'), 'extensions/policy.tsx'],
    [
      'adds a file without an ending',
      {
        ...added(newTool),
        'tools/new.ts': "import './lib/run.mjs';\nexport const handlers = {};\n",
        'tools/lib/run.mjs': 'export {};\n',
      },
      'tools/lib/run.mjs',
    ],
    [
      'adds a file that wins over an index file',
      toolAt('extensions/later.ts'),
      'in place of extensions/later/index.ts',
    ],
    ['adds an index file beside a module', toolAt('extensions/lazy/index.js'), 'in place of extensions/lazy.ts'],
    ['adds a file in place of a package', toolAt('hidden.ts'), 'part of Extension/guard'],
    ['adds a file of an alias that wins', toolAt('lib/aliased.tsx'), 'lib/aliased.tsx'],
    ['adds a file in place of a required one of a package', toolAt('packages/own/inner.ts'), 'packages/own/inner.ts'],
    [
      'deletes the code of an extension',
      { 'extensions/rules.json': null, 'extensions/rules.json.ts': 'export default 1;\n' },
      'rules.json',
    ],
    ['edits YAML that is not a resource', { 'rules.yaml': 'forbidden: []\n' }, 'rules.yaml is not a file'],
    ['turns other YAML into resources', { 'rules.yaml': newTool, ...code }, 'rules.yaml is not a file'],
    ['edits any other file', { 'prompts/limits.md': 'Delete files.\n' }, 'prompts/limits.md is not a file'],
    ['adds any other file', { 'data.bin': 'x' }, 'data.bin is not a file'],
    [
      'edits a file that a person put into a skill of a changeset',
      { 'skills/mine/operator.md': 'x' },
      'skills/mine/operator.md is in the folder skills',
    ],
    [
      'makes an existing module the code of a new tool',
      toolAt('extra/free.ts', 'export const handlers = { run: () => 2 };\n'),
      'extra/free.ts was not created by a changeset',
    ],
    [
      'opens a folder with a new SKILL.md',
      { 'prompts/SKILL.md': '# Skill\n', 'prompts/limits.md': 'Delete files.\n' },
      'prompts/limits.md is not a file',
    ],
    [
      'adds a SKILL.md to a folder with files',
      { 'connectors/SKILL.md': '# Skill\n' },
      'connectors/SKILL.md is not a file',
    ],
    [
      'makes the whole bundle a skill',
      { 'SKILL.md': '# Skill\n', 'prompts/limits.md': 'Delete files.\n' },
      'SKILL.md is not a file',
    ],
    [
      'uses an existing file as the code of a new tool',
      {
        ...toolAt('data/tool.ts'),
        'prompts/limits.md': 'x',
      },
      'prompts/limits.md is not a file',
    ],
  ],
  'the code of existing parts by new files': [
    [
      'adds a file that an extension imports if it exists',
      toolAt('extensions/optional.ts'),
      'extensions/optional.ts is part of Extension/guard',
    ],
    [
      'adds a prompt that is a module',
      {
        ...promptAt('extensions/optional.ts'),
        'extensions/optional.ts': 'export {};\n',
      },
      'extensions/optional.ts is part of Extension/guard',
    ],
    [
      'adds a prompt to a folder that the settings of a guard name',
      { ...promptAt('policies/two.md'), 'policies/two.md': 'Allow all.\n' },
      'policies/two.md is in the folder policies, which the settings of Extension/guard name',
    ],
    [
      'adds code to a folder whose files the settings of a guard match',
      toolAt('limits/deep/new.ts', 'export {};\n'),
      'limits/deep/new.ts is in the folder limits',
    ],
    [
      'adds YAML to a folder that the settings of a guard name',
      { 'policies/new.yaml': newTool, ...code },
      'policies/new.yaml is in the folder policies',
    ],
    [
      'makes a skill of a folder that the settings of a guard name',
      { 'policies/mine/SKILL.md': '# Skill\n', 'policies/mine/two.md': 'Allow all.\n' },
      'policies/mine/two.md is in the folder policies',
    ],
    [
      'adds a prompt that another program reads',
      { ...promptAt('Makefile'), Makefile: 'all:\n\trm -rf .\n' },
      'Makefile must end with .md or .txt',
    ],
    [
      'adds a skill in a folder of another program',
      { '.github/SKILL.md': '# Skill\n', '.github/workflows/run.yml': 'on: push\n' },
      '.github/workflows/run.yml has a hidden part',
    ],
    [
      'adds a skill file that could be imported',
      { 'extensions/policy/SKILL.md': '# Skill\n', 'extensions/policy/index.ts': 'export {};\n' },
      'extensions/policy/index.ts could be imported in place of extensions/policy.ts',
    ],
  ],
  'names of files': [
    ...[
      'package.json',
      'sub/package.json',
      'Package.JSON',
      'bun.lock',
      'package-lock.json',
      'bunfig.toml',
      'BUNFIG.toml',
      '.npmrc',
      'tsconfig.json',
      'tsconfig.base.json',
      'jsconfig.json',
      '.mcp.json',
      'sub/.mcp.json',
      '.Env',
      'node_modules/hidden/index.js',
      'Node_Modules/x/index.js',
      '.git/hooks/pre-commit',
      '../outside.md',
      'skills/../../outside.md',
      '/etc/passwd',
      'C:/x.md',
      'skills\\review\\SKILL.md',
      'prompts/coder.md\0.png',
      'skills/./x.md',
      'skills//x.md',
      'prompts/co\u{200B}der.md',
      'prompts/.',
    ].map((path): Attempt => [`writes ${JSON.stringify(path)}`, { [path]: '{}' }, 'so no changeset may change it']),
    ['writes through a link', { 'skills/linked/extra.md': 'x' }, 'leads through the link skills/linked'],
    ['replaces a link', { 'prompts/linked.md': 'x' }, 'is a link'],
    ['writes below a file', { 'prompts/coder.md/x.md': 'x' }, 'which is not a folder'],
    ['replaces a folder', { 'skills/empty': 'x' }, 'is not a regular file'],
    ['writes a name in other capitals', { 'skills/review/skill.md': 'x' }, 'only in spelling'],
    ['writes a folder in other capitals', { 'Skills/new/SKILL.md': 'x' }, 'only in spelling'],
    ['deletes goondan.yaml', { 'goondan.yaml': null }, 'cannot be deleted'],
    [
      'writes a file outside of `allow`',
      { 'prompts/coder.md': 'x' },
      'allows only skills/**',
      { allow: ['skills/**'] },
    ],
    ['writes anything without `allow`', { 'prompts/coder.md': 'x' }, 'allows no files', { allow: [] }],
  ],
};

/** Attempts that `npm test` always tries, one for each rule that only a sample would notice. */
const always: readonly string[] = ['uses another file as a prompt', 'adds a SKILL.md to a folder with files'];
/** Groups of many similar attempts: `npm test` tries every 150th of them, and every 75th of the other groups. */
const largeGroups: readonly string[] = ['the code of existing parts', 'the code of existing parts by new files'];

describe.each(Object.entries(groups))('an agent cannot change %s', (group, attempts) => {
  const sampled = sampledCases(attempts, largeGroups.includes(group) ? 150 : 75);
  test.each(attempts.filter((attempt) => sampled.includes(attempt) || always.includes(attempt[0])))(
    'it %s',
    async (_title, texts, sentence, request = {}) => {
      const examined = await examine(texts, request);
      expect(examined).toMatchObject({ status: 'rejected', reason: 'policy_violation' });
      const { violations = [] } = examined as { readonly violations?: readonly string[] };
      expect(violations.join('\n')).toContain(sentence);
      for (const each of violations) expect(each).toMatch(/^.{10,400}\.$/);
    },
  );
});

describe('names that hide others are errors of the bundle', () => {
  test.each<readonly [string, EditedTexts]>([
    [
      'a second document with the same name',
      { 'parts.yaml': documents(text('parts.yaml'), resource('Tool', 'shell', toolSpec('./tools/new.ts'))), ...code },
    ],
    [
      'a file that sorts before the others',
      { 'a.yaml': resource('Extension', 'guard', '{ entry: ./extensions/new.ts }'), ...layer },
    ],
    [
      'a name in other capitals',
      { ...added(resource('Extension', 'Guard', '{ entry: ./extensions/new.ts }')), ...layer },
    ],
    ['a module in node_modules', added(resource('Tool', 'new', toolSpec('./node_modules/hidden/index.js')))],
  ])('%s', async (_title, texts) => {
    expect(await examine(texts)).toMatchObject({ status: 'rejected', reason: 'invalid_files' });
  });
});

describe('an agent may change', () => {
  test.each<readonly [string, EditedTexts]>([
    ['a prompt in YAML', agents('You help.', 'You help a lot.')],
    ['a prompt file', { 'prompts/coder.md': 'You write good code.\n' }],
    [
      'its prompt to a new file',
      {
        ...promptAt('prompts/better.md'),
        'prompts/better.md': 'x',
        'prompts/coder.md': null,
      },
    ],
    [
      'its prompt to that of another agent',
      agents('prompt: { system: You help. }', 'prompt: { systemRef: ./prompts/coder.md }'),
    ],
    [
      'comments and the order of resources',
      { 'goondan.yaml': `# Mine\n${text('goondan.yaml').split('---\n').toReversed().join('---\n')}` },
    ],
    [
      'a skill',
      { 'skills/review/SKILL.md': '---\nname: review\ndescription: Better.\n---\n', 'skills/review/more/list.md': 'x' },
    ],
    [
      'its skills by a new one',
      { 'skills/new/SKILL.md': '---\nname: new\ndescription: New.\n---\n', 'skills/new/run.sh': 'echo\n' },
    ],
    [
      'its skills by one in a folder that only the extension for skills names',
      { 'knowledge/new/SKILL.md': '# Skill\n' },
    ],
    ['a skill of an earlier changeset', { 'skills/mine/SKILL.md': '# Better\n', 'skills/mine/more.md': 'x' }],
    ['its skills by one in a conventional folder', { '.agents/skills/new/SKILL.md': '# Skill\n' }],
    ['its skills by the removal of one', { 'skills/review/SKILL.md': null }],
    ['its tools by a new one', { ...added(newTool), ...code, ...withTool('{ ref: Tool/new, config: { a: 1 } }') }],
    [
      'its tools by one that another agent has',
      agents('prompt: { system: You help. }', 'tools: [Tool/added], prompt: { system: You help. }'),
    ],
    [
      'the code of a tool that an earlier changeset added',
      {
        'tools/added.ts': "import './added/more.ts';\nexport const handlers = { run: () => 3 };\n",
        'tools/added/more.ts': 'export {};\n',
        'tools/added/text.ts': null,
      },
    ],
    [
      'its extensions by a new one at the end',
      { ...added(newExtension), ...layer, ...withExtension('{ ref: Extension/new, config: { a: 1 } }') },
    ],
    ['nothing, with a new tool that is not listed', { ...added(newTool), ...code }],
  ])('%s', async (_title, texts) => {
    expect(await examine(texts)).toMatchObject({ status: 'fits' });
  });
});

describe('an agent of a bundle that uses the base library cannot hide', () => {
  const guarded = temporaryBundle({
    'goondan.yaml': documents(
      resource('Model', 'main', script),
      resource(
        'Agent',
        'coder',
        `{ modelConfig: { modelRef: Model/main }, tools: [Tool/bash, Tool/agents, Tool/wait], extensions: [Extension/logging],
          hooks: [{ point: toolCall.pre, tool: bash__*, action: { command: [sh, hooks/guard.sh] } }] }`,
      ),
      resource(
        'Swarm',
        'default',
        '{ entryAgent: Agent/coder, agents: [Agent/coder], extensions: [{ ref: Extension/approval, config: { default: ask } }] }',
      ),
    ),
    'hooks/guard.sh': 'exit 0\n',
    'hooks/SKILL.md': '# A skill of the operator\n',
  });
  afterAll(() => guarded[Symbol.dispose]());
  const tool = (name: string) => ({ ...added(resource('Tool', name, toolSpec('./tools/new.ts'))), ...code });
  const extension = (name: string) => ({
    ...added(resource('Extension', name, '{ entry: ./extensions/new.ts, innermost: true }')),
    ...layer,
  });

  test.each<readonly [string, EditedTexts, string]>([
    ['a tool of the library', tool('wait'), '["Tool/wait of Agent/coder would be changed, removed or moved."]'],
    ['a tool of the library that a rule names', tool('bash'), 'settings of Agent/coder use'],
    ['the tools for other agents', tool('agents'), 'agentTools of Agent/coder would be changed'],
    ['an extension of the library', extension('logging'), 'The extensions of Agent/coder would be changed'],
    ['the script of a guard hook, in a folder with a SKILL.md', { 'hooks/guard.sh': 'exit 1\n' }, 'Agent/coder'],
  ])('%s', async (_title, texts, sentence) => {
    const examined = await examineTexts({ bundleFolder: guarded.folder, environment: {} }, texts);
    expect(examined).toMatchObject({ status: 'rejected', reason: 'policy_violation' });
    expect(JSON.stringify(examined)).toContain(sentence);
  });

  test('the approval layer of the swarm', async () => {
    const examined = await examineTexts({ bundleFolder: guarded.folder, environment: {} }, extension('approval'));
    expect(examined).toMatchObject({ status: 'rejected', reason: 'invalid_files' });
    expect(JSON.stringify(examined)).toContain('the extensions of a swarm are outside of all others');
  });

  test('the extension of its hooks: a new one of this name leaves the hooks as they are', async () => {
    const texts = {
      ...extension('hooks'),
      'goondan.yaml': replaced(
        readFileSync(join(guarded.folder, 'goondan.yaml'), 'utf8'),
        '[Extension/logging],',
        '[Extension/logging, Extension/hooks],',
      ),
    };
    const examined = await examineTexts({ bundleFolder: guarded.folder, environment: {} }, texts);
    expect(examined).toMatchObject({ status: 'rejected', reason: 'policy_violation' });
  });
});

describe('an agent that has an extension for v0.10 gets no new one', () => {
  const old = '{ entry: ./extensions/guard.ts, compat: v010 }';
  const modern = '{ entry: ./extensions/guard.ts }';
  const adapter = "import { v010 } from '@goondan/v010';\nexport const register = v010(() => undefined);\n";
  const cases: readonly (readonly [string, { guard?: string; code?: string; ofSwarm?: string; ofAgent?: string }])[] = [
    ['with compat', { guard: old }],
    ['with the adapter', { code: adapter }],
    ['of its swarm', { guard: old, ofAgent: '', ofSwarm: 'Extension/guard' }],
  ];
  test.each(cases)(
    '%s',
    async (_title, { guard = modern, code: guardCode, ofAgent = 'Extension/guard', ofSwarm = '' }) => {
      const agent = (extensions: string) =>
        resource('Agent', 'b', `{ modelConfig: { modelRef: Model/main }, extensions: [${extensions}] }`);
      using guarded = temporaryBundle({
        'goondan.yaml': documents(
          resource('Model', 'main', script),
          resource('Agent', 'a', '{ modelConfig: { modelRef: Model/main } }'),
          resource('Swarm', 'default', '{ entryAgent: Agent/a, agents: [Agent/a, Agent/b] }'),
          resource('Swarm', 'other', `{ entryAgent: Agent/b, agents: [Agent/b], extensions: [${ofSwarm}] }`),
          resource('Extension', 'guard', guard),
        ),
        'agents.yaml': agent(ofAgent),
        'extensions/guard.ts': guardCode ?? 'export function register() {}\n',
        'node_modules/@goondan/v010/package.json': '{ "name": "@goondan/v010", "main": "index.js" }',
        'node_modules/@goondan/v010/index.js': '',
      });
      const items = ['Extension/new', ofAgent].filter((item) => item !== '').toReversed();
      const hidden =
        "const { v010 } = await import('@goondan/' + 'v010');\nexport const register = v010(() => undefined);\n";
      const texts = {
        'agents.yaml': documents(agent(items.join(', ')), newExtension),
        'extensions/new.ts': hidden,
      };
      const source = { bundleFolder: guarded.folder, environment: {}, swarm: 'default' };
      expect(await examineTexts(source, texts)).toMatchObject({
        status: 'rejected',
        reason: 'policy_violation',
        violations: [expect.stringContaining('no extension may be added beside Extension/guard, which is for v0.10')],
      });
    },
  );
});

describe('a rejection names the causes only', () => {
  test.each<readonly [string, EditedTexts, string]>([
    [
      'the effects of a new tool',
      {
        ...added(resource('Tool', 'new', toolSpec('./tools/new.ts', ', effects: none'))),
        ...code,
        ...withTool('Tool/new'),
      },
      'new.yaml: Tool/new: the export run has effects: none; the effects of a new Tool are external.',
    ],
    [
      'a removed tool',
      agents('[Tool/shell, ', '['),
      'agents.yaml: Agent/coder: spec.tools: an item is changed, removed or moved. Add new items at the end and leave the others as they are.',
    ],
  ])('%s', async (_title, texts, message) => {
    expect(await examine(texts)).toMatchObject({ message, violations: [message] });
  });

  test('in natural sentences, for one violation or error and for several', async () => {
    const message = async (texts: EditedTexts) => String(((await examine(texts)) as { message?: string }).message);
    const edited = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`data${at}.bin`, 'x']));
    expect(await message(edited(1))).toEndWith('extensions.');
    expect(await message(edited(2))).toEndWith(' There is 1 more violation.');
    expect(await message(edited(3))).toEndWith(' There are 2 more violations.');
    expect(await message({ 'agents.yaml': text('agents.yaml').replace('Tool/shell', 'Tool/none') })).toMatch(
      /^The changed bundle has an error: agents\.yaml:\d+:\d+ There is no Tool\/none, .*$/,
    );
    expect(
      await message({
        'agents.yaml': text('agents.yaml').replace('Tool/shell', 'Tool/none').replace('Agent/helper', 'Agent/none'),
      }),
    ).toMatch(/^The changed bundle has 2 errors\. The first: agents\.yaml:\d+:\d+ There is no (?:Tool|Agent)\/none.*$/);
  });
});
