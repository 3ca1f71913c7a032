/**
 * Finds fields that nobody reads, in objects that bundle code hands over. Such a field must not be lost without a word: it
 * is a typing mistake, or the name that another version or another runtime uses.
 */
import { closestName } from './closest-name.ts';

export interface KnownFields {
  /** The object in an error message, with its article: `a step result`. */
  readonly what: string;
  /** An object without a prototype: a lookup takes a third of the time of a set. */
  readonly fields: Readonly<Record<string, true>>;
  /** Names that other runtimes use, each with the known field that it means. Their spelling is too different to guess. */
  readonly otherNames: ReadonlyMap<string, string>;
}

export function knownFields<Value>(
  what: string,
  fields: Readonly<Record<keyof Value & string, true>>,
  otherNames: Readonly<Record<string, keyof Value & string>> = {},
): KnownFields {
  const table: Record<string, true> = Object.assign(Object.create(null), fields);
  return { what, fields: table, otherNames: new Map(Object.entries(otherNames)) };
}

/**
 * Describes the first unknown field and names the nearest known field, or all known fields if none is near. Returns
 * `undefined` when all fields are known. A field whose value is `undefined` counts as absent.
 */
export function findUnknownField(value: object, known: KnownFields): string | undefined {
  // Not `Object.keys`: this runs for every result of a layer, and a list of keys takes twice as long.
  for (const field in value) {
    if (known.fields[field] === true || !Object.hasOwn(value, field)) continue;
    // Safe: `field` is a key of the value.
    if (value[field as keyof typeof value] !== undefined) return describe(field, known);
  }
  return undefined;
}

/** The number of dropped fields that are described. */
const MOST_DESCRIBED = 5;

/**
 * Returns a value without its unknown fields, or the same value if all its fields are known. `reader` is told which
 * unknown fields there were.
 */
export function dropUnknownFields<Value extends object>(
  value: Value,
  known: KnownFields,
  reader: { dropped(unknownFields: string): void },
): Value {
  // Without a closure here, because almost no result has an unknown field.
  return findUnknownField(value, known) === undefined ? value : withoutUnknownFields(value, known, reader);
}

function withoutUnknownFields<Value extends object>(
  value: Value,
  known: KnownFields,
  reader: { dropped(unknownFields: string): void },
): Value {
  const isKnown = ([field]: [string, unknown]) => known.fields[field] === true;
  const dropped = Object.entries(value).filter((entry) => !isKnown(entry) && entry[1] !== undefined);
  const described = dropped.slice(0, MOST_DESCRIBED).map(([field]) => describe(field, known));
  const others = dropped.length - described.length;
  reader.dropped([...described, ...(others > 0 ? [`${others} more`] : [])].join('; '));
  // Safe: the known fields are those of the type.
  return Object.fromEntries(Object.entries(value).filter(isKnown)) as Value;
}

function describe(field: string, { what, fields, otherNames }: KnownFields): string {
  const names = Object.keys(fields);
  const nearest = otherNames.get(field) ?? closestName(field, names);
  const help = nearest === undefined ? `its fields are ${names.join(', ')}` : `the nearest field is "${nearest}"`;
  return `"${field.slice(0, LONGEST_NAME)}" is not a field of ${what}; ${help}`;
}

/** The longest part of a name in an error message. */
const LONGEST_NAME = 60;
