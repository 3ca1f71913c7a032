import { GoondanError, type JsonValue } from '@goondan/types';

/** The maximum depth of a value. */
const DEEPEST = 200;

/** Returns a copy of a JSON value. Throws `E_STATE_NOT_JSON`, which names the part that is not JSON. */
export function copyState(extension: string, value: unknown): JsonValue {
  return copyAt(value, '', 0, (problem) => {
    throw new GoondanError('E_STATE_NOT_JSON', `State of extension "${extension}": ${problem}.`);
  });
}

function copyAt(value: unknown, path: string, depth: number, refuse: (problem: string) => never): JsonValue {
  const here = path === '' ? 'the value' : path;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object')
    return refuse(`${here} is ${typeof value === 'number' ? String(value) : `a ${typeof value}`}`);
  if (depth > DEEPEST) return refuse(`${here} is nested more than ${DEEPEST} deep`);
  const at = (key: string) => (path === '' ? key : `${path}.${key}`);
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => copyAt(item, at(String(index)), depth + 1, refuse));
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return refuse(`${here} is not a plain object`);
  // A field that is undefined is left out, as JSON.stringify does.
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([key, field]) => [key, copyAt(field, at(key), depth + 1, refuse)]));
}
