/** References between resources: how they are written, and which fields of each kind contain them. */
import type { JsonObject } from '@goondan/types';
import { providerVariables } from '../provider-variables.ts';
import { HOOKS_EXTENSION } from './base-library.ts';
import type { WrittenReference } from './kinds/fields.ts';
import type { ResourceKind, ResourceOf } from './kinds/resource-schemas.ts';
import { isPlainObject } from '../../json/copy-json.ts';
import type { ReferringResource, LoadedResource, Scope } from './bundle.ts';
import type { Path } from './place.ts';

/** A reference, its path, and the expected kind. */
export interface ReferenceUse {
  readonly path: Path;
  readonly kind: ResourceKind;
  readonly written: WrittenReference;
}

/** Returns `undefined` when the text is not `Kind/name`. */
export function parseReference(written: WrittenReference): Exclude<WrittenReference, string> | undefined {
  if (typeof written !== 'string') return written;
  const [, kind, name] = /^([A-Za-z]+)\/([^/]+)$/.exec(written) ?? [];
  return kind === undefined || name === undefined ? undefined : { kind, name };
}

/** Splits `anthropic/claude-sonnet-4-5`, the name of a model that needs no resource. */
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

/** Returns the reference of a list item in either of its forms. */
export function referenceOf(item: ListItem): WrittenReference {
  return typeof item === 'object' && 'ref' in item ? item.ref : item;
}

/** Returns the config of a list item, which is merged over the config of the resource. */
export function configOf(item: ListItem): JsonObject {
  return typeof item === 'object' && 'ref' in item ? (item.config ?? {}) : {};
}

/**
 * Returns `Kind/name` under which an item is listed. The name is the one given by `as`, or else the resource's own
 * name.
 */
export function listedAs(item: ListItem): string | undefined {
  const reference = parseReference(referenceOf(item));
  if (reference === undefined) return undefined;
  return `${reference.kind}/${newNameOf(item) ?? reference.name}`;
}

/** Returns the name given by `as`; `undefined` when the item keeps its own name. */
export function newNameOf(item: ListItem): string | undefined {
  return typeof item === 'object' && 'ref' in item ? item.as : undefined;
}

export function listReferences({ kind, name, resource }: LoadedResource): ReferenceUse[] {
  const found = findReferences(kind, resource.spec);
  if (kind !== 'Agent' || ownModelOf(resource.spec) === undefined) return found;
  return [...found, { kind: 'Model', written: `Model/${name}`, path: ['spec', 'model'] }];
}

/** Returns the model that is written in an agent, not only named there. */
export function ownModelOf({ model }: ResourceOf<'Agent'>['spec']): ResourceOf<'Model'>['spec'] | undefined {
  return typeof model === 'object' && 'provider' in model ? model : undefined;
}

/**
 * Lists the references of a resource, even if the resource is broken. A value that does not have the form of a
 * reference is skipped.
 */
export function findReferences(kind: ResourceKind, spec: unknown): ReferenceUse[] {
  return referencePlaces[kind].flatMap(({ expects, steps, provider, means }) => {
    if (provider !== undefined && (!isPlainObject(spec) || spec.provider !== provider)) return [];
    return findPlaces(spec, steps, ['spec']).flatMap(({ value, path }) => {
      if (means !== undefined) {
        return Array.isArray(value) && value.length > 0 ? [{ kind: expects, written: means, path }] : [];
      }
      if (!isWrittenReference(value) || (expects === 'Model' && parseModelName(value) !== undefined)) return [];
      return [{ kind: expects, written: value, path }];
    });
  });
}

interface ReferencePlace {
  readonly expects: ResourceKind;
  /** The path from the spec to the reference. */
  readonly steps: readonly (string | typeof EACH | typeof ITEM)[];
  /** If set, the field is a reference only for this provider. */
  readonly provider?: string;
  /** If set, the field is a list, and a list that is not empty needs this resource. */
  readonly means?: WrittenReference;
}

const EACH = Symbol('each of a list');
const ITEM = Symbol('the reference of a `ListItem`');

const referencePlaces: Readonly<Record<ResourceKind, readonly ReferencePlace[]>> = {
  Model: [{ expects: 'Model', steps: ['options', 'upstream'], provider: 'cassette' }],
  Agent: [
    { expects: 'Model', steps: ['model'] },
    { expects: 'Model', steps: ['modelConfig', 'modelRef'] },
    { expects: 'Model', steps: ['modelConfig', 'models', EACH] },
    { expects: 'Tool', steps: ['tools', EACH, ITEM] },
    { expects: 'Extension', steps: ['extensions', EACH, ITEM] },
    { expects: 'Extension', steps: ['hooks'], means: HOOKS_EXTENSION },
    { expects: 'Agent', steps: ['mayAsk', EACH] },
  ],
  Swarm: [
    { expects: 'Agent', steps: ['entryAgent'] },
    { expects: 'Agent', steps: ['agents', EACH, ITEM] },
    { expects: 'Extension', steps: ['extensions', EACH, ITEM] },
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

function findPlaces(
  value: unknown,
  [step, ...rest]: ReferencePlace['steps'],
  path: Path,
): { readonly value: unknown; readonly path: Path }[] {
  if (step === undefined) return [{ value, path }];
  if (step === EACH) {
    if (!Array.isArray(value)) return [];
    return value.flatMap((item: unknown, index) => findPlaces(item, rest, [...path, index]));
  }
  const key = step === ITEM ? 'ref' : step;
  if (isPlainObject(value) && Object.hasOwn(value, key)) return findPlaces(value[key], rest, [...path, key]);
  return step === ITEM ? findPlaces(value, rest, path) : [];
}

/** An object with a mistyped key is not accepted, because it would refer to something else. */
function isWrittenReference(value: unknown): value is WrittenReference {
  if (typeof value === 'string') return true;
  if (!isPlainObject(value) || typeof value.kind !== 'string' || typeof value.name !== 'string') return false;
  if (value.package !== undefined && typeof value.package !== 'string') return false;
  return Object.keys(value).every((key) => ['kind', 'name', 'package'].includes(key));
}

/** Lists the documents of a scope that may contain references: its resources, and its broken documents. */
export function listReferring({ resources, broken }: Scope): readonly ReferringResource[] {
  return [...resources.map((loaded) => ({ ...loaded, references: listReferences(loaded) })), ...broken];
}
