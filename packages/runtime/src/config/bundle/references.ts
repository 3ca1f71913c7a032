/** References between resources: how they are written, and where each kind has them. */
import type { JsonObject } from '@goondan/types';
import { providerVariables } from '../provider-variables.ts';
import type { WrittenReference } from './kinds/fields.ts';
import type { ResourceKind } from './kinds/resource-schemas.ts';
import type { LoadedResource } from './bundle.ts';
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
  const uses: ReferenceUse[] = [];
  const add = (expected: ResourceKind, written: WrittenReference | undefined, ...path: Path) => {
    if (written === undefined || (expected === 'Model' && parseModelName(written) !== undefined)) return;
    uses.push({ kind: expected, written, path: ['spec', ...path] });
  };
  const addItems = (expected: ResourceKind, items: readonly ListItem[] | undefined, name: string) => {
    for (const [index, item] of (items ?? []).entries()) {
      const isWrapped = typeof item === 'object' && 'ref' in item;
      add(expected, referenceOf(item), name, index, ...(isWrapped ? ['ref'] : []));
    }
  };
  switch (kind) {
    case 'Model': {
      const { spec } = resource;
      if (spec.provider === 'cassette') add('Model', spec.options.upstream, 'options', 'upstream');
      break;
    }
    case 'Agent': {
      const { modelConfig, tools, extensions } = resource.spec;
      add('Model', modelConfig.modelRef, 'modelConfig', 'modelRef');
      modelConfig.models?.forEach((written, index) => add('Model', written, 'modelConfig', 'models', index));
      addItems('Tool', tools, 'tools');
      addItems('Extension', extensions, 'extensions');
      break;
    }
    case 'Swarm': {
      const { entryAgent, agents, extensions } = resource.spec;
      add('Agent', entryAgent, 'entryAgent');
      addItems('Agent', agents, 'agents');
      addItems('Extension', extensions, 'extensions');
      break;
    }
    case 'Connection': {
      const { connectorRef, swarmRef, ingress } = resource.spec;
      add('Connector', connectorRef, 'connectorRef');
      add('Swarm', swarmRef, 'swarmRef');
      ingress.rules.forEach(({ route }, index) =>
        add('Agent', route.agentRef, 'ingress', 'rules', index, 'route', 'agentRef'),
      );
      break;
    }
    case 'Tool':
    case 'Extension':
    case 'Connector':
    case 'Package':
      break;
  }
  return uses;
}
