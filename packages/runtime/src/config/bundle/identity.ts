/** Who a document is: its kind and its name, also of a broken one. */
import { isPlainObject } from '../../json/copy-json.ts';
import type { Scope, UnknownResource } from './bundle.ts';
import { kindOf } from './kinds/parse-resource.ts';
import type { SourceDocument } from './place.ts';

/** Returns `Kind/name` of a document, even if the document is broken; `undefined` when it lacks one of both. */
export function readIdentity(document: SourceDocument): string | undefined {
  const { kind, name } = readParts(document);
  return kind === undefined || name === undefined ? undefined : `${kind}/${name}`;
}

/** Lists `Kind/name` of the documents, and those whose kind or name is unknown. */
export function readIdentities(documents: readonly SourceDocument[]) {
  const identities = documents.flatMap((document) => readIdentity(document) ?? []);
  const unknown = documents.filter((document) => readIdentity(document) === undefined).map(readParts);
  return { declared: new Set(identities), unknown };
}

/**
 * Returns the name of the only agent of a bundle that declares no swarm. It is a swarm of its own, with the same name.
 */
export function findLoneAgent({ declared, unknown }: Pick<Scope, 'declared' | 'unknown'>): string | undefined {
  const [only, another] = [...declared].filter((identity) => identity.startsWith('Agent/'));
  const hasSwarm = [...declared].some((identity) => identity.startsWith('Swarm/'));
  const mayHaveMore = unknown.some(({ kind }) => kind === undefined || kind === 'Swarm' || kind === 'Agent');
  return hasSwarm || mayHaveMore || another !== undefined ? undefined : only?.slice('Agent/'.length);
}

function readParts({ value, isUnreadable }: SourceDocument): UnknownResource {
  if (!isPlainObject(value)) return {};
  const kind = kindOf(value);
  const name = isPlainObject(value.metadata) ? value.metadata.name : undefined;
  const isNamed = typeof name === 'string' && name !== '';
  // One unreadable document may contain several.
  if (isUnreadable && (kind === undefined || !isNamed)) return {};
  return { ...(kind === undefined ? {} : { kind }), ...(isNamed ? { name } : {}) };
}
