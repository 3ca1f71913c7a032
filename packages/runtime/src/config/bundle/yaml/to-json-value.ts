/**
 * Converts a parsed YAML document to JSON, with the place of every value.
 *
 * Invariants:
 * 1. The result is JSON: keys are texts, occur once, and have no special meaning in JavaScript; numbers are finite.
 * 2. The work is proportional to the size of the text. The value of an alias is converted once and shared; its expanded
 *    size is counted and limited.
 */
import type { JsonObject, JsonValue } from '@goondan/types';
import { type Document, isAlias, isMap, isScalar, isSeq, type Pair, type YAMLMap, type YAMLSeq } from 'yaml';
import { isPlainObject } from '../../../json/copy-json.ts';
import type { PositionTree } from './position-tree.ts';
import { yamlLimits } from './limits.ts';

export interface YamlFault {
  readonly code: 'E_YAML_KEY' | 'E_YAML_LIMIT' | 'E_YAML_SYNTAX';
  readonly offset: number;
  readonly message: string;
  readonly suggestion?: string;
}

const forbiddenKeys: readonly string[] = ['__proto__', 'constructor', 'prototype'];

const MERGE_KEY = '<<';

/** Thrown to end the conversion, after the fault has been added to the list. */
class LimitReached extends Error {}

interface Converted {
  readonly value: JsonValue;
  readonly positions: PositionTree;
  /** The number of values after aliases are expanded. */
  readonly size: number;
  /** The number of levels of nested lists and objects. */
  readonly height: number;
}

/** Converts the documents of one file, which share its limits. */
export class YamlConverter {
  /** The faults of the current document. */
  #faults: YamlFault[] = [];
  /** Values by anchor; `open` while the anchor's value is still being read. */
  readonly #anchors = new Map<string, Converted | 'open'>();
  #aliasesLeft: number = yamlLimits.aliases;
  #valuesLeft: number = yamlLimits.values;

  toJsonValue(document: Document.Parsed) {
    const faults: YamlFault[] = [];
    this.#faults = faults;
    this.#anchors.clear();
    try {
      const { value, positions } = this.#convert(document.contents, 0, document.range[0]);
      return { value, positions, faults };
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
      return { value: null, positions: { value: document.range[0] }, faults };
    }
  }

  #convert(node: unknown, depth: number, parentOffset: number): Converted {
    if (isAlias(node)) return this.#follow(node.source, depth, node.range?.[0] ?? parentOffset);
    const anchor = anchorOf(node);
    if (anchor !== undefined) this.#anchors.set(anchor, 'open');
    const converted = this.#convertOwn(node, depth, parentOffset);
    if (anchor !== undefined) this.#anchors.set(anchor, converted);
    return converted;
  }

  #convertOwn(node: unknown, depth: number, parentOffset: number): Converted {
    if (isMap(node)) return this.#convertMap(node, depth, parentOffset);
    if (isSeq(node)) return this.#convertList(node, depth, parentOffset);
    const offset = isScalar(node) ? (node.range?.[0] ?? parentOffset) : parentOffset;
    this.#spend(1, offset);
    return { value: this.#readScalar(node, offset), positions: { value: offset }, size: 1, height: 0 };
  }

  #convertMap(node: YAMLMap, depth: number, parentOffset: number): Converted {
    const offset = this.#enter(node.range?.[0] ?? parentOffset, depth);
    const value: JsonObject = {};
    const children = new Map<string | number, PositionTree>();
    let size = 1;
    let height = 0;
    const merged: Converted[] = [];
    for (const pair of node.items) {
      const [key, keyOffset] = this.#readKey(pair, value, offset);
      const converted = this.#convert(pair.value, depth + 1, keyOffset);
      size += converted.size;
      height = Math.max(height, converted.height);
      if (key === MERGE_KEY) merged.push(converted);
      if (key === undefined || key === MERGE_KEY) continue;
      value[key] = converted.value;
      children.set(key, { ...converted.positions, key: keyOffset });
    }
    for (const each of merged) addMissing(value, children, each);
    return { value, positions: { value: offset, children }, size, height: height + 1 };
  }

  #convertList(node: YAMLSeq, depth: number, parentOffset: number): Converted {
    const offset = this.#enter(node.range?.[0] ?? parentOffset, depth);
    const value: JsonValue[] = [];
    const children = new Map<string | number, PositionTree>();
    let size = 1;
    let height = 0;
    for (const item of node.items) {
      const converted = this.#convert(item, depth + 1, offset);
      size += converted.size;
      height = Math.max(height, converted.height);
      children.set(value.length, converted.positions);
      value.push(converted.value);
    }
    return { value, positions: { value: offset, children }, size, height: height + 1 };
  }

  /** Returns the key to use for a value; `undefined` when the key is rejected, and its value with it. */
  #readKey({ key }: Pair, siblings: JsonObject, parentOffset: number): [key: string | undefined, offset: number] {
    const offset = isScalar(key) || isAlias(key) ? (key.range?.[0] ?? parentOffset) : parentOffset;
    const refuse = (message: string, suggestion?: string): [undefined, number] => {
      this.#faults.push({ code: 'E_YAML_KEY', offset, message, ...(suggestion === undefined ? {} : { suggestion }) });
      return [undefined, offset];
    };
    const name: unknown = isScalar(key) ? key.value : undefined;
    if (typeof name !== 'string') return refuse('A key must be a text.');
    if (forbiddenKeys.includes(name)) return refuse(`The key "${name}" is never allowed.`);
    if (name === MERGE_KEY) {
      refuse('Merge keys (`<<`) are not supported.', 'Write the fields out.');
      return [MERGE_KEY, offset];
    }
    if (Object.hasOwn(siblings, name)) return refuse(`The key "${name}" is in the same object twice.`);
    return [name, offset];
  }

  #readScalar(node: unknown, offset: number): JsonValue {
    const value: unknown = isScalar(node) ? node.value : null;
    if (value === null || value === undefined) return null;
    if (typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    this.#faults.push({
      code: 'E_YAML_SYNTAX',
      offset,
      message: `${typeof value === 'number' ? value : 'This'} is not a value that a resource can have.`,
      suggestion: 'Use texts, finite numbers, true, false and null; put quotes around a text that looks like a number.',
    });
    return null;
  }

  #follow(name: string, depth: number, offset: number): Converted {
    this.#aliasesLeft -= 1;
    if (this.#aliasesLeft < 0) throw this.#limit(offset, `The file has more than ${yamlLimits.aliases} aliases.`);
    const target = this.#anchors.get(name);
    if (target === undefined || target === 'open') {
      const message = target === 'open' ? `The alias *${name} is part of itself.` : `There is no anchor &${name}.`;
      this.#faults.push({ code: 'E_YAML_SYNTAX', offset, message });
      return { value: null, positions: { value: offset }, size: 1, height: 0 };
    }
    this.#spend(target.size, offset);
    if (depth + target.height > yamlLimits.depth) throw this.#tooDeep(offset);
    return target;
  }

  #enter(offset: number, depth: number): number {
    this.#spend(1, offset);
    if (depth >= yamlLimits.depth) throw this.#tooDeep(offset);
    return offset;
  }

  #spend(values: number, offset: number): void {
    this.#valuesLeft -= values;
    if (this.#valuesLeft >= 0) return;
    throw this.#limit(
      offset,
      `The file has more than ${yamlLimits.values} values, counting the value of an alias each time it is used.`,
    );
  }

  #tooDeep(offset: number): LimitReached {
    return this.#limit(offset, `The file has values nested deeper than ${yamlLimits.depth} levels.`);
  }

  #limit(offset: number, message: string): LimitReached {
    this.#faults.push({ code: 'E_YAML_LIMIT', offset, message });
    return new LimitReached(message);
  }
}

/**
 * Adds the fields of a merge key that the object does not have. The merge key is rejected, but without its fields the
 * checks of the document would report them as missing.
 */
function addMissing(
  value: JsonObject,
  children: Map<string | number, PositionTree>,
  { value: more, positions }: Converted,
) {
  if (!isPlainObject(more)) return;
  for (const [key, each] of Object.entries(more)) {
    if (Object.hasOwn(value, key)) continue;
    value[key] = each;
    const place = positions.children?.get(key);
    if (place !== undefined) children.set(key, place);
  }
}

function anchorOf(node: unknown): string | undefined {
  return isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined;
}
