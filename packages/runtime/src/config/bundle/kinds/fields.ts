/**
 * Fields that several kinds share. Their descriptions appear in editors and in docs/reference/configuration.md.
 * Patterns and defaults in `meta` are only for these two readers; the runtime does not use them.
 */
import type { JsonObject, JsonSchema, JsonValue } from '@goondan/types';
import { z } from 'zod';
import { API_VERSION } from '../../api-version.ts';
import { resourceNamePattern } from '../../resource-name.ts';

export const text = z.string().min(1);
/** Makes the schema of a count or of a number of milliseconds, with a minimum. */
export const count = (least: number) => z.int().min(least);

/** Makes the schema of a field that may be absent. `byDefault`: the value that editors and the reference show. */
export function optional<Schema extends z.ZodType>(schema: Schema, description: string, byDefault?: unknown) {
  return schema.optional().meta({ description, ...(byDefault === undefined ? {} : { default: byDefault }) });
}

// Safe: documents are already JSON here, so there is nothing to check.
export const jsonValue = z.unknown() as z.ZodType<JsonValue>;
export const jsonObject = z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject>;
export const jsonSchema = z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonSchema>;

const metadata = z
  .strictObject({
    name: text.meta({
      description: 'Letters, digits, `-` and single `.`, starting with a letter, not ending with `.`, at most 63.',
      pattern: resourceNamePattern.source,
    }),
    labels: optional(z.record(z.string(), z.string()), 'Labels, for people and programs that select resources.'),
    annotations: optional(z.record(z.string(), z.string()), 'Anything else about the resource.'),
  })
  .meta({ id: 'Metadata', description: 'The name and labels of the resource.' });

/** Makes the schema of a kind: the fields that all kinds share, and its own `spec`. */
export function resource<Kind extends string, Spec extends z.ZodType>(kind: Kind, description: string, spec: Spec) {
  return z
    .strictObject({
      apiVersion: z.literal(API_VERSION).describe(`Always ${API_VERSION}.`),
      kind: z.literal(kind).describe(description),
      metadata,
      spec,
    })
    .meta({ id: kind, title: kind, description });
}

/** The fields that all kinds share, for a document whose kind is unknown. */
export const anyResource = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.unknown().optional(),
  metadata,
  spec: z.unknown().optional(),
});

const referenceObject = z
  .strictObject({
    kind: text.describe('The kind of the resource.'),
    name: text.describe('Its name.'),
    package: optional(
      text,
      'The npm package of the resource. When absent, the resource is in this bundle, or else in @goondan/base.',
    ),
  })
  .meta({ id: 'Reference', description: 'Names a resource; the short form, without a package, is `Kind/name`.' });

/**
 * Makes the schema of a reference that is written as text. It accepts any text: a later check of the whole bundle
 * decides whether the kind is allowed and the resource exists.
 */
const writtenReference = (kinds: string) =>
  z.string().meta({ pattern: `^(${kinds})/.+`, examples: [`${kinds.split('|')[0] ?? ''}/name`] });

/**
 * Makes the schema of a reference: `Kind/name`, or an object. `kinds`: the texts that may be before the slash,
 * separated by `|`.
 */
export function reference(kinds: string) {
  return z.union([writtenReference(kinds), referenceObject]);
}

export type WrittenReference = string | z.output<typeof referenceObject>;

/** Makes the schema of a list item: a reference alone, or an object with the reference and further fields. */
export function listItem<Shape extends z.core.$ZodLooseShape>(kind: string, more: Shape) {
  return z.union([
    writtenReference(kind),
    referenceObject,
    z.strictObject({ ref: reference(kind).describe('Which one.'), ...more }),
  ]);
}

const variable = text.describe('The name of an environment variable.');

export const valueSource = z
  .union([
    z.string(),
    z.strictObject({ valueFrom: z.strictObject({ env: variable }).describe('The source of the value at run time.') }),
  ])
  .meta({ id: 'Value', description: 'A text, or `{ valueFrom: { env: NAME } }`.' });

export type ValueSource = z.output<typeof valueSource>;

export const config = jsonObject.describe(
  'Settings. `{ valueFrom: { env: NAME } }` anywhere in the config is replaced by that value.',
);

export const environment = z
  .record(z.string(), valueSource)
  .describe('Environment variables for the process, in addition to the few that every process gets.');

export const exclusive = optional(
  z.boolean(),
  'If true, the module cannot be loaded twice in one process, because it holds a port or a lock, for example. A change of ' +
    'it replaces the process of the agent between turns, instead of being made in the running process.',
  false,
);

export const entry = text.describe('The module, relative to the folder of the bundle and inside it.');
