/** References between resources: how they are written, and where each kind has them. */
import type { JsonObject } from '@goondan/types';
import { providerVariables } from '../provider-variables.ts';
import type { WrittenReference } from './kinds/fields.ts';
import type { ResourceKind } from './kinds/resource-schemas.ts';
import { isPlainObject } from '../../json/copy-json.ts';
import type { ReferringResource, LoadedResource, Scope } from './bundle.ts';
import type { Path } from './place.ts';

export interface Reference {
  readonly kind: string;
  readonly name: string;
  /** The npm package; absent for the folder the reference stands in. */
  readonly package?: string;
}

/** A reference at its place, and the kind that belongs there. */
export interface ReferenceUse {
  readonly path: Path;
  readonly kind: ResourceKind;
  readonly written: WrittenReference;
}

/** `undefined` when it is not `Kind/name`. */
export function parseReference(written: WrittenReference): Reference | undefined {
  if (typeof written !== 'string') {
    const { kind, name, package: from } = written;
    return { kind, name, ...(from === undefined ? {} : { package: from }) };
  }
  const [, kind, name] = /^([A-Za-z]+)\/([^/]+)$/.exec(written) ?? [];
  return kind === undefined || name === undefined ? undefined : { kind, name };
}

/** `anthropic/claude-sonnet-4-5`: a model that needs no resource. */
export function parseModelName(written: WrittenReference): { provider: string; model: string } | undefined {
  if (typeof written !== 'string') return undefined;
  const [provider = '', ...rest] = written.split('/');
  const model = rest.join('/');
  return Object.hasOwn(providerVariables, provider) && model !== '' ? { provider, model } : undefined;
}

export type ListItem =
  | WrittenReference
  | {
      readonly ref: WrittenReference;
      readonly as?: string | undefined;
      readonly config?: JsonObject | undefined;
    };

/** The reference of an item of a list, whichever of its forms it has. */
export function referenceOf(item: ListItem): WrittenReference {
  return typeof item === 'object' && 'ref' in item ? item.ref : item;
}

/** What the item says about its config here; it goes over the resource's own. */
export function configOf(item: ListItem): JsonObject {
  return typeof item === 'object' && 'ref' in item ? (item.config ?? {}) : {};
}

/** `Kind/name` of an item where it is listed: its own name, or the one it is given there. */
export function listedAs(item: ListItem): string | undefined {
  const reference = parseReference(referenceOf(item));
  if (reference === undefined) return undefined;
  return `${reference.kind}/${newNameOf(item) ?? reference.name}`;
}

/** What `as` says; `undefined` when it keeps its own name. */
export function newNameOf(item: ListItem): string | undefined {
  return typeof item === 'object' && 'ref' in item ? item.as : undefined;
}

export function listReferences({ kind, resource }: LoadedResource): ReferenceUse[] {
  return findReferences(kind, resource.spec);
}

/** Those of a resource, also of one that is wrong somewhere: what is not written like a reference is passed over. */
export function findReferences(kind: ResourceKind, spec: unknown): ReferenceUse[] {
  return referencePlaces[kind].flatMap(({ expects, steps, isItem = false, provider }) => {
    if (provider !== undefined && (!isPlainObject(spec) || spec.provider !== provider)) return [];
    return findPlaces(spec, steps, ['spec']).flatMap((found) => {
      const { value, path } = isItem ? unwrapItem(found) : found;
      if (!isWrittenReference(value) || (expects === 'Model' && parseModelName(value) !== undefined)) return [];
      return [{ kind: expects, written: value, path }];
    });
  });
}

interface ReferencePlace {
  readonly expects: ResourceKind;
  /** From the spec to the reference; `EACH` for each of a list. */
  readonly steps: readonly (string | typeof EACH)[];
  /** A `ListItem`. */
  readonly isItem?: true;
  /** Only with this provider. */
  readonly provider?: string;
}

const EACH = Symbol('each of a list');

const referencePlaces: Readonly<Record<ResourceKind, readonly ReferencePlace[]>> = {
  Model: [{ expects: 'Model', steps: ['options', 'upstream'], provider: 'cassette' }],
  Agent: [
    { expects: 'Model', steps: ['modelConfig', 'modelRef'] },
    { expects: 'Model', steps: ['modelConfig', 'models', EACH] },
    { expects: 'Tool', steps: ['tools', EACH], isItem: true },
    { expects: 'Extension', steps: ['extensions', EACH], isItem: true },
  ],
  Swarm: [
    { expects: 'Agent', steps: ['entryAgent'] },
    { expects: 'Agent', steps: ['agents', EACH], isItem: true },
    { expects: 'Extension', steps: ['extensions', EACH], isItem: true },
  ],
  Connection: [
    { expects: 'Connector', steps: ['connectorRef'] },
    { expects: 'Swarm', steps: ['swarmRef'] },
    { expects: 'Agent', steps: ['ingress', 'rules', EACH, 'route', 'agentRef'] },
  ],
  Tool: [],
  Extension: [],
  Connector: [],
  Package: [],
};

interface Found {
  readonly value: unknown;
  readonly path: Path;
}

function findPlaces(value: unknown, [step, ...rest]: ReferencePlace['steps'], path: Path): Found[] {
  if (step === undefined) return [{ value, path }];
  if (step === EACH) {
    if (!Array.isArray(value)) return [];
    return value.flatMap((item: unknown, index) => findPlaces(item, rest, [...path, index]));
  }
  return isPlainObject(value) && Object.hasOwn(value, step) ? findPlaces(value[step], rest, [...path, step]) : [];
}

function unwrapItem({ value, path }: Found): Found {
  return isPlainObject(value) && 'ref' in value ? { value: value.ref, path: [...path, 'ref'] } : { value, path };
}

/** With a mistyped key an object would name something else. */
function isWrittenReference(value: unknown): value is WrittenReference {
  if (typeof value === 'string') return true;
  if (!isPlainObject(value) || typeof value.kind !== 'string' || typeof value.name !== 'string') return false;
  if (value.package !== undefined && typeof value.package !== 'string') return false;
  return Object.keys(value).every((key) => ['kind', 'name', 'package'].includes(key));
}

/** Who refers to what in a folder: its resources, and those that are wrong somewhere. */
export function listReferring({
  resources,
  broken,
}: Pick<Scope, 'resources' | 'broken'>): readonly ReferringResource[] {
  const whole = resources.map((loaded) => ({
    identity: loaded.identity,
    document: loaded.document,
    references: listReferences(loaded),
  }));
  return [...whole, ...broken];
}
