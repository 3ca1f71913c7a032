// Checks that every field of a resource changes the plan of its swarm, or is listed here with its effect.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '@goondan/types';
import { temporaryBundle } from '../../../testing/temporary-bundle.ts';
import { loadBundle } from '../load-bundle.ts';
import { resolveSwarm } from '../resolve/resolve-swarm.ts';
import { bundleJsonSchema } from './bundle-json-schema.ts';

/** The keywords of JSON Schema that lead to a field. */
interface Schema {
  readonly $ref?: string;
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly type?: string;
  readonly maximum?: number;
  readonly default?: JsonValue;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Field {
  /** The path of the field, such as `Agent.policy.trace`. */
  readonly name: string;
  /** The key in `specs` of the resource that has this field. */
  readonly document: string;
  readonly path: readonly string[];
  readonly schema: Schema;
}

/** The fields that do not change the plan, each with its effect. */
const notInPlan: Readonly<Record<string, string>> = {
  'Swarm.description': 'people read it',
  'Swarm.workspace': 'resolveSwarm returns it beside the plan',
  'Connector.events.0.name': 'the rules of connections are checked against it',
  'Connector.events.0.description': 'people read it',
  'Connector.configSchema': 'the config of connections is checked against it',
  'Connection.swarmRef': 'it chooses the plan that gets the connection',
  'Package.version': 'package managers read it',
  'Package.description': 'people read it',
  'Package.dependencies.0.name': 'installed packages are compared with it',
  'Package.dependencies.0.version': 'installed packages are compared with it',
};

/** Sample values for fields that accept only certain texts. */
const samples: Readonly<Record<string, JsonValue>> = {
  'Model scripted.options.script': [{ say: 'Something else.' }],
  'Model cassette.options.file': 'other.json',
  'Model cassette.options.upstream': 'Model/openai-compatible',
  'Agent.model': { provider: 'openai-compatible', model: 'm', endpoint: 'http://localhost:1' },
  'Agent.modelConfig.modelRef': 'Model/openai-compatible',
  'Agent.modelConfig.models.0': 'Model/spare',
  'Agent.prompt.systemRef': './prompt.md',
  'Agent.output.schemaRef': './other.json',
  'Agent.tools.0.ref': 'Tool/other',
  'Agent.extensions.0.ref': 'Extension/other',
  'Agent.mayAsk.0': 'Agent/other',
  'Agent.workdir': '.',
  'Swarm.entryAgent': 'Agent/other',
  'Swarm.agents.0.ref': 'Agent/third',
  'Swarm.extensions.0.ref': 'Extension/other',
  'Swarm.policy.idle.hibernateAfterSeconds': 77,
  'Tool.entry': './other.ts',
  'Extension.entry': './other.ts',
  'Connector.entry': './other.ts',
  'Connection.connectorRef': 'Connector/other',
  'Connection.ingress.rules.0.route.agentRef': 'Agent/other',
};

const script = [{ say: 'Hello.' }];
const exported = [{ name: 'run', description: 'Runs.' }];
const rules = [{ route: {} }];
/** One resource for each kind and provider, and other resources that these refer to. */
const specs: Readonly<Record<string, JsonObject>> = {
  'Model anthropic': { provider: 'anthropic', model: 'm', apiKey: 'a-key' },
  'Model openai-compatible': { provider: 'openai-compatible', model: 'm', endpoint: 'http://localhost:1' },
  'Model scripted': { provider: 'scripted', model: 'm', options: { script } },
  'Model cassette': {
    provider: 'cassette',
    model: 'm',
    options: { mode: 'record', file: 'cassette.json', upstream: 'Model/scripted' },
  },
  Agent: {
    modelConfig: {
      modelRef: 'Model/scripted',
      models: ['Model/anthropic', 'Model/openai-compatible', 'Model/cassette'],
    },
    tools: [{ ref: 'Tool/tool' }],
    extensions: [{ ref: 'Extension/extension' }],
  },
  Swarm: {
    entryAgent: 'Agent/agent',
    agents: [{ ref: 'Agent/last' }, 'Agent/agent', 'Agent/other'],
    extensions: [{ ref: 'Extension/last' }],
  },
  Tool: { entry: './entry.ts', exports: exported },
  Extension: { entry: './entry.ts' },
  Connector: { entry: './entry.ts' },
  Connection: { connectorRef: 'Connector/connector', ingress: { rules } },
  'Model spare': { provider: 'scripted', model: 'm', options: { script } },
  'Agent other': { modelConfig: { modelRef: 'Model/scripted' } },
  'Agent third': { modelConfig: { modelRef: 'Model/scripted' } },
  'Agent last': { modelConfig: { modelRef: 'Model/scripted' } },
  'Tool other': { entry: './other.ts', exports: exported },
  'Extension other': { entry: './other.ts' },
  'Extension last': { entry: './entry.ts' },
  'Connector other': { entry: './other.ts' },
};
const agentWithHook = (hook: JsonObject): JsonObject => ({
  modelConfig: { modelRef: 'Model/scripted' },
  hooks: [{ point: 'toolCall.pre', action: { toolCall: { tool: 'tool__run' } }, ...hook }],
});
const hookFields = ['id', 'point', 'priority', 'tool', 'required', 'action.toolCall.tool', 'action.toolCall.args'];
/** The specs for fields that need another field next to them. */
const specsWithNeighbour: Readonly<Record<string, JsonObject>> = {
  ...Object.fromEntries(hookFields.map((field) => [`Agent.hooks.0.${field}`, agentWithHook({})])),
  'Agent.model': { model: 'Model/scripted' },
  'Agent.output.retries': { modelConfig: { modelRef: 'Model/scripted' }, output: { schema: { type: 'object' } } },
  'Agent.maxInstances': { modelConfig: { modelRef: 'Model/scripted' }, isolation: 'agent' },
  'Connection.answersQuestions': {
    connectorRef: 'Connector/connector',
    secrets: { token: 'a-token-of-a-door' },
    ingress: { rules },
  },
  'Connection.ingress.rules.0.route.instanceKeyPrefix': {
    connectorRef: 'Connector/connector',
    ingress: { rules: [{ route: { instanceKeyProperty: 'room' } }] },
  },
};
const files = {
  'entry.ts': 'export const handlers = {}; export function register() {} export default () => {};\n',
  'other.ts': 'export const handlers = {}; export function register() {} export default () => {};\n',
  'prompt.md': 'Be kind.\n',
  'cassette.json': '{}\n',
  'other.json': '{}\n',
};

const fields = listFields(bundleJsonSchema());
const bundle = temporaryBundle(files);
afterAll(() => bundle[Symbol.dispose]());
/** The plan of `specs`, with which almost every field is compared. */
let usualPlan: unknown;
beforeAll(async () => {
  usualPlan = await planOf(specs);
});

describe('a field of a resource', () => {
  test.each(fields.filter(({ name }) => !(name in notInPlan)))('$name reaches the plan', async (field) => {
    const { name, document, path, schema } = field;
    const neighbour = specsWithNeighbour[name];
    const before = neighbour === undefined ? specs : { ...specs, [document]: neighbour };
    const spec = set(before[document], path, samples[name] ?? sampleOf(schema)) as JsonObject;
    const plan = await planOf({ ...before, [document]: spec });
    expect(plan, `config/bundle/resolve leaves out ${name}; carry it, or say in notInPlan why not`).not.toEqual(
      neighbour === undefined ? usualPlan : await planOf(before),
    );
  });

  test.each(Object.keys(notInPlan))('%s, which is not in the plan, exists', (name) => {
    expect(fields.map((field) => field.name)).toContain(name);
  });
});

async function planOf(all: Readonly<Record<string, JsonObject>>): Promise<unknown> {
  const documents = Object.entries(all).map(([document, spec]) => {
    const [kind = '', name = kind.toLowerCase()] = document.split(' ');
    return JSON.stringify({ apiVersion: 'goondan.ai/v1', kind, metadata: { name }, spec });
  });
  writeFileSync(join(bundle.folder, 'goondan.yaml'), documents.join('\n---\n'));
  const environment = { 'a-text': 'http://localhost:2' };
  const loaded = await loadBundle(bundle.folder, { environment });
  expect(loaded.errors).toEqual([]);
  const { plan } = resolveSwarm(loaded, { environment, workdir: '/' });
  return JSON.parse(JSON.stringify(plan).replaceAll(bundle.folder, '')) as unknown;
}

function set(at: JsonValue | undefined, [first, ...rest]: readonly string[], value: JsonValue): JsonValue {
  if (first === undefined) return value;
  if (/^\d+$/.test(first)) {
    const [item, ...others] = Array.isArray(at) ? at : [];
    return [set(item, rest, value), ...others];
  }
  const fieldsBefore = typeof at === 'object' && at !== null && !Array.isArray(at) ? at : {};
  return { ...fieldsBefore, [first]: set(fieldsBefore[first], rest, value) };
}

function sampleOf({ type, maximum, enum: values, default: usual, additionalProperties: member }: Schema): JsonValue {
  if (values !== undefined) return values.at(-1) === usual ? (values[0] ?? null) : (values.at(-1) ?? null);
  if (type === 'boolean') return usual !== true;
  if (type === 'integer' || type === 'number') return maximum === usual ? 0 : Math.min(maximum ?? 77, 77);
  if (type !== 'object') return 'a-text';
  // The object has values of the environment, objects by name, or anything.
  if (member?.$ref !== undefined) return { NAME: 'a-text' };
  return member?.type === 'object' ? { name: { some: 'option' } } : { title: 'a-text' };
}

/** Lists the fields of all kinds. The fields of a Model are listed for each provider. */
function listFields(root: Schema): Field[] {
  return (root.oneOf ?? []).map(follow).flatMap(({ properties }) => {
    const kind = String(properties?.['kind']?.const);
    const spec = follow(properties?.['spec'] ?? {});
    if (kind !== 'Model') return walk(kind, [], spec);
    return (spec.oneOf ?? []).flatMap((provider) => {
      const { const: only, enum: several } = provider.properties?.['provider'] ?? {};
      return walk(`Model ${String(only ?? several?.[0])}`, [], provider);
    });
  });

  function walk(document: string, path: readonly string[], schema: Schema): Field[] {
    const found = follow(schema);
    const { const: fixed, items, properties } = objectForm(found);
    if (fixed !== undefined) return [];
    const isWhole = items === undefined && properties === undefined;
    if (isWhole || path.at(-1) === 'script')
      return [{ name: [document, ...path].join('.'), document, path, schema: found }];
    return [
      ...Object.entries(properties ?? {}).flatMap(([name, part]) => walk(document, [...path, name], part)),
      ...(items === undefined ? [] : walk(document, [...path, '0'], items)),
    ];
  }

  /**
   * Returns the alternative of a schema that has fields. A reference does not count, because it can also be written as
   * a text.
   */
  function objectForm(schema: Schema): Schema {
    const forms = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map(follow);
    const isReference = ({ properties }: Schema) => properties !== undefined && 'package' in properties;
    return forms.find((form) => form.properties !== undefined && !isReference(form)) ?? schema;
  }

  function follow(schema: Schema): Schema {
    const [only] = schema.allOf ?? [];
    if (only !== undefined) return follow(only);
    if (schema.$ref === undefined) return schema;
    return follow(root.definitions?.[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  }
}
