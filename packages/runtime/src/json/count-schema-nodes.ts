/**
 * Counts the nodes of a JSON Schema as if every `$ref` were replaced by its target, because a check may visit all these
 * nodes. Even a short schema can have a huge number of them, so they are counted before the schema is compiled. Pure.
 *
 * 1. Each target is walked once, and the walk ends at the limit, so counting takes at most `most` steps.
 * 2. If a target contains a `$ref` to itself, this `$ref` counts as one node and is not followed. The checked value
 *    decides how often such a check repeats.
 */
import { GoondanError, type JsonSchema } from '@goondan/types';
import { unlessThrows } from '../ports/unless-throws.ts';
import { isPlainObject } from './copy-json.ts';

/** The maximum number of nodes of one schema. Compiling this many takes about two seconds on a slow machine. */
export const MOST_SCHEMA_NODES = 20_000;
/**
 * The maximum depth of nesting, including targets of `$ref`. The compiler is recursive and goes as deep as the schema.
 */
const DEEPEST = 512;

/** Returns an error if the schema is too large when its `$ref`s are followed, otherwise `undefined`. */
export function findSizeProblem(schema: JsonSchema, what: string): GoondanError | undefined {
  if (countSchemaNodes(schema) <= MOST_SCHEMA_NODES) return undefined;
  const bound = MOST_SCHEMA_NODES.toLocaleString('en-US');
  return new GoondanError(
    'E_SCHEMA_SIZE',
    `The schema of ${what} has more than ${bound} values once its $refs are followed.`,
  );
}

/**
 * Counts every value of the schema as a node. Returns `Infinity` when there are more than `most`, or the number cannot
 * be determined.
 */
export function countSchemaNodes(schema: object, most = MOST_SCHEMA_NODES): number {
  const scopes = new Scopes(schema);
  const counted = new Map<object, number>();
  const open = new Set<object>();
  let visited = 0;
  return count(schema, 0);

  function count(value: unknown, depth: number): number {
    visited += 1;
    if (visited > most || depth > DEEPEST) return Infinity;
    if (typeof value !== 'object' || value === null) return 1;
    let total = 1;
    for (const item of Object.values(value)) {
      total += count(item, depth + 1);
      if (total > most) return Infinity;
    }
    const target = scopes.targetOf(value);
    if (target === 'unknown') return Infinity;
    total += target === undefined ? 0 : countTarget(target, depth + 1);
    return total > most ? Infinity : total;
  }

  function countTarget(target: object, depth: number): number {
    const known = counted.get(target);
    if (known !== undefined) return known;
    if (open.has(target)) return 1;
    open.add(target);
    const total = count(target, depth);
    open.delete(target);
    counted.set(target, total);
    return total;
  }
}

/** The parts of a schema that a `$ref` can refer to: by pointer, by `$id` and by `$anchor`. */
class Scopes {
  /**
   * The scope of each part. A part with its own `$id` is a scope: pointers and anchors inside it are relative to it.
   */
  readonly #scopes = new Map<object, object>();
  /** Parts by `$id`; `undefined` when several parts have the same `$id`. */
  readonly #ids = new Map<string, object | undefined>();
  readonly #anchors = new Map<object, Map<string, object>>();

  constructor(private readonly root: object) {
    this.#collect(root, root, 0);
  }

  /**
   * Returns the target of a `$ref`. Returns `undefined` without a `$ref`, or when the target does not exist; the
   * validator then rejects the schema itself. Returns `unknown` when the validator may find a target that this function
   * does not.
   */
  targetOf(node: object): object | 'unknown' | undefined {
    if (!('$ref' in node) || typeof node.$ref !== 'string') return undefined;
    const [address = '', fragment = ''] = node.$ref.split('#', 2);
    const scope = address === '' ? (this.#scopes.get(node) ?? this.root) : this.#ids.get(address);
    if (scope === undefined) return this.#ids.size === 0 ? undefined : 'unknown';
    if (fragment === '') return scope;
    if (fragment.startsWith('/')) return follow(scope, fragment);
    return this.#anchors.get(scope)?.get(fragment) ?? (this.#anchors.size === 0 ? undefined : 'unknown');
  }

  #collect(node: unknown, outer: object, depth: number): void {
    if (typeof node !== 'object' || node === null || depth > DEEPEST) return;
    const { $id, $anchor, $dynamicAnchor } = node as Readonly<Record<string, unknown>>;
    const [id, fragment] = typeof $id === 'string' && node !== this.root ? $id.split('#', 2) : [];
    const isScope = id !== undefined && id !== '';
    const scope = isScope ? node : outer;
    this.#scopes.set(node, scope);
    if (isScope) this.#ids.set(id, this.#ids.has(id) ? undefined : node);
    for (const name of [$anchor, $dynamicAnchor, fragment]) {
      if (typeof name === 'string' && name !== '') this.#addAnchor(scope, name, node);
    }
    for (const item of Object.values(node)) this.#collect(item, scope, depth + 1);
  }

  #addAnchor(scope: object, name: string, node: object): void {
    const anchors = this.#anchors.get(scope) ?? new Map<string, object>();
    this.#anchors.set(scope, anchors.set(name, node));
  }
}

function follow(scope: object, pointer: string): object | undefined {
  let at: unknown = scope;
  for (const part of pointer.split('/').slice(1)) {
    if (!isPlainObject(at) && !Array.isArray(at)) return undefined;
    at = Reflect.get(at, unescape(part));
  }
  return typeof at === 'object' && at !== null ? at : undefined;
}

function unescape(part: string): string {
  return unlessThrows(() => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')) ?? part;
}
