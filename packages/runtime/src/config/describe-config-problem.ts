/** Describes a problem of a config together with the correction, if the config shows which mistake it is. */
import { isPlainObject } from '../json/copy-json.ts';
import type { SchemaProblem } from '../json/find-schema-problem.ts';
import { readField } from '../json/read-field.ts';
import { closestName } from './closest-name.ts';

/** `schema`: the schema that the config was checked against. Its fields are the known fields. */
export function describeConfigProblem(problem: SchemaProblem, config: unknown, schema: unknown): string {
  const advice = adviseOn(problem, config, schema);
  return advice === undefined ? problem.message : `${problem.message}; ${advice}`;
}

function adviseOn(
  { path, unknownField, isForbidden }: SchemaProblem,
  config: unknown,
  schema: unknown,
): string | undefined {
  if (unknownField !== undefined) return nameNearest(unknownField, fieldsAt(schema, path));
  if (isForbidden) return quoteDescription(schema, path);
  const written = path.reduce(readField, config);
  if (!isPlainObject(written) || !Object.hasOwn(written, 'value') || Object.keys(written).length > 1) return undefined;
  return 'a config does not take { value: … }: write the value itself';
}

function nameNearest(field: string, known: readonly string[]): string | undefined {
  const nearest = closestName(field, known);
  if (nearest !== undefined) return `the nearest field is "${nearest}"`;
  return known.length === 0 ? undefined : `the known fields are ${known.join(', ')}`;
}

/** Returns the description of a field, which says where the field is allowed. */
function quoteDescription(schema: unknown, path: readonly string[]): string | undefined {
  const description = readField(schemaAt(schema, path), 'description');
  return typeof description === 'string' ? `its description: "${description}"` : undefined;
}

/** Lists the fields that the schema declares for the object at this path. */
function fieldsAt(schema: unknown, path: readonly string[]): string[] {
  const properties = readField(schemaAt(schema, path), 'properties');
  return isPlainObject(properties) ? Object.keys(properties) : [];
}

function schemaAt(schema: unknown, path: readonly string[]): unknown {
  return path.reduce(
    (here: unknown, key) =>
      readField(readField(here, 'properties'), key) ??
      readField(here, 'items') ??
      readField(here, 'additionalProperties'),
    schema,
  );
}
