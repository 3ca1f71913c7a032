// Renders docs/reference/configuration.md from the schemas that check bundles, so that the page, editors and `gdn
// validate` agree. The examples are the files of examples/every-kind.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleJsonSchema } from '../packages/runtime/src/config/bundle/kinds/bundle-json-schema.ts';
import { resourceSchemas } from '../packages/runtime/src/config/bundle/kinds/resource-schemas.ts';
import { type Field, listFields, type SchemaNode } from './list-fields.ts';
import { markdownTable } from './markdown-table.ts';

export const configurationReferencePage = join(import.meta.dir, '..', 'docs/reference/configuration.md');
const examples = join(import.meta.dir, '..', 'examples/every-kind');

export function renderConfigurationReference(): string {
  // The result of `bundleJsonSchema` is a schema of draft 7.
  const { definitions = {} } = bundleJsonSchema() as SchemaNode;
  const kinds = Object.keys(resourceSchemas);
  const shared = Object.keys(definitions).filter((name) => !kinds.includes(name.replace(/Spec$/, '')));
  return [
    introduction,
    ...kinds.map((kind) => renderKind(kind, definitions, kind === 'Agent' ? listLimits(definitions) : [])),
    '## Parts of several kinds\n',
    ...shared.map((name) => renderPart(name, definitions[name] ?? {})),
  ].join('\n');
}

const introduction = `# Resources, field by field

Every kind of resource in a bundle, with every field, its type, its default and its meaning. [Bundles](../bundles.md)
explains how the parts belong together, and how to make an editor show these texts.

Every document has four fields: \`apiVersion\`, always \`goondan.ai/v1\`; \`kind\`; \`metadata\`,
[the same for all](#metadata); and \`spec\`, described below for each kind. In the names of fields, \`[]\` is each item of a
list and \`<name>\` each name of a map.

The examples are one bundle, [examples/every-kind](../../examples/every-kind/check.ts).

This page is generated from \`packages/runtime/src/config/bundle/kinds\` by \`npm run write\`.
`;

/** Lists the fields of a swarm's policy. Their values apply to the agents that do not set these fields. */
function listLimits({ Swarm }: Readonly<Record<string, SchemaNode>>): Field[] {
  return listFields(Swarm?.properties?.['spec'] ?? {}).filter(({ path }) => path.startsWith('policy.'));
}

/** `inherited`: the fields whose values come from the swarm when they are absent here. */
function renderKind(
  kind: string,
  definitions: Readonly<Record<string, SchemaNode>>,
  inherited: readonly Field[],
): string {
  const { description = '', properties = {} } = definitions[kind] ?? {};
  const spec = definitions[`${kind}Spec`] ?? properties['spec'] ?? {};
  return [`## ${kind}\n`, `${description}\n`, ...renderForms(spec, inherited), renderExample(kind)].join('\n');
}

/** Renders one table per form of `spec`. */
function renderForms(spec: SchemaNode, inherited: readonly Field[]): string[] {
  if (spec.oneOf === undefined) return [renderFields(spec, inherited)];
  return spec.oneOf.flatMap((form) => {
    const [name, marked] = Object.entries(form.properties ?? {}).find(([, field]) => isChoice(field)) ?? [];
    const values = marked?.enum ?? [marked?.const];
    return [`With \`${name}: ${values.join('`, `')}\`:\n`, renderFields(form)];
  });
}

function isChoice({ enum: names, const: only }: SchemaNode): boolean {
  return names !== undefined || only !== undefined;
}

function renderFields(schema: SchemaNode, inherited: readonly Field[] = []): string {
  const rows = listFields(schema).map((field) => [
    `\`${field.path}\``,
    field.type,
    renderDefault(field, inherited),
    field.description,
  ]);
  return markdownTable(['field', 'type', 'default', 'meaning'], rows);
}

function renderDefault({ path, isRequired, byDefault }: Field, inherited: readonly Field[]): string {
  if (isRequired) return 'required';
  if (byDefault !== undefined) return `\`${byDefault}\``;
  const limit = inherited.find((each) => each.path === path);
  if (limit === undefined) return '';
  return limit.byDefault === undefined ? 'the swarm’s' : `the swarm’s, else \`${limit.byDefault}\``;
}

function renderExample(kind: string): string {
  const text = readFileSync(join(examples, exampleFile(kind)), 'utf8');
  return `\`\`\`yaml\n${text.replace(/^#.*\n/gm, '')}\`\`\`\n`;
}

/** Returns the name of the example file for a kind. A bundle needs a `goondan.yaml`, so the swarm is in that file. */
export function exampleFile(kind: string): string {
  return kind === 'Swarm' ? 'goondan.yaml' : `${kind.toLowerCase()}.yaml`;
}

function renderPart(name: string, schema: SchemaNode): string {
  return [`### ${name}\n`, `${schema.description ?? ''}\n`, renderFields(schema)].join('\n');
}
