/** Lists the fields of a JSON Schema as rows for people, outer fields first. */

/** The part of the output of `z.toJSONSchema` that our kinds use. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly allOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly definitions?: Readonly<Record<string, SchemaNode>>;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly examples?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: SchemaNode | false;
  readonly items?: SchemaNode;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly default?: string | number | boolean;
}

export interface Field {
  /** The path of the field, such as `policy.restart.baseMs`, `exports[].name` or `secrets.<name>`. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** The default value, in YAML. */
  readonly byDefault?: string;
  /** The description in the schema; empty when the schema has none. */
  readonly description: string;
}

/** Lists the fields of an object, and of every object in a union. */
export function listFields(schema: SchemaNode, path = ''): Field[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const fieldPath = path === '' ? name : `${path}.${name}`;
    return [describeField(fieldPath, field, schema), ...listFields(field, fieldPath)];
  });
  const items = schema.items === undefined ? [] : listFields(schema.items, `${path}[]`);
  const values = schema.additionalProperties ? listFields(schema.additionalProperties, `${path}.<name>`) : [];
  const forms = (schema.anyOf ?? []).flatMap((form) => listFields(form, path));
  return [...own, ...items, ...values, ...forms];
}

function describeField(path: string, field: SchemaNode, { required = [] }: SchemaNode): Field {
  return {
    path,
    type: describeType(field),
    isRequired: required.includes(path.split('.').at(-1) ?? ''),
    ...(field.default === undefined ? {} : { byDefault: String(field.default) }),
    description: field.description ?? '',
  };
}

function describeType(schema: SchemaNode): string {
  const { $ref, allOf, anyOf, enum: names, const: only } = schema;
  if ($ref !== undefined) return linkTo($ref.replace('#/definitions/', ''));
  if (allOf !== undefined) return allOf.map(describeType).join(' and ');
  if (anyOf !== undefined) return either([...new Set(anyOf.map(describeType))]);
  if (names !== undefined) return names.map((name) => `\`${name}\``).join(', ');
  if (only !== undefined) return `\`${only}\``;
  if (Array.isArray(schema.type)) return either(schema.type.map((type: string) => describeType({ type })));
  switch (schema.type) {
    case 'string':
      return schema.examples === undefined ? 'text' : schema.examples.map((example) => `\`${example}\``).join(', ');
    case 'integer':
      return `whole number${limits(schema)}`;
    case 'number':
      return `number${limits(schema)}`;
    case 'boolean':
      return '`true`, `false`';
    case 'null':
      return '`null`';
    case 'array':
      return `list of ${describeType(schema.items ?? {})}${schema.minItems === undefined ? '' : `, at least ${schema.minItems}`}`;
    case 'object':
      return isMap(schema) ? `map to ${describeType(schema.additionalProperties)}` : 'object';
    default:
      return 'anything';
  }
}

function either(types: readonly string[]): string {
  return types.length < 2 ? types.join('') : `${types.slice(0, -1).join(', ')} or ${types.at(-1)}`;
}

/**
 * Tells whether the schema is a map: the author chooses the keys, and all values have one type. A schema without a
 * value type is a plain object.
 */
function isMap(schema: SchemaNode): schema is SchemaNode & { readonly additionalProperties: SchemaNode } {
  const { additionalProperties: values } = schema;
  return typeof values === 'object' && Object.keys(values).length > 0;
}

function limits({ minimum, exclusiveMinimum, maximum }: SchemaNode): string {
  const most = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const least = minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum;
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}`;
  if (least !== undefined) return `, at least ${least}`;
  if (exclusiveMinimum !== undefined) return `, more than ${exclusiveMinimum}`;
  return most === undefined ? '' : `, at most ${most}`;
}

function linkTo(name: string): string {
  const title = name.replace(/Spec$/, '');
  return `[${title}](#${title.toLowerCase()})`;
}
