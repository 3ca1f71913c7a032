import { isPlainObject } from '../../json/copy-json.ts';
import { findLoneAgent, readIdentities } from './identity.ts';
import { parseResource } from './kinds/parse-resource.ts';
import type { BundleSwarms } from './load-bundle.ts';
import type { SourceDocument } from './place.ts';

/** Lists the swarms that can be read, in the order of the documents; or else the one of a lone agent. */
export function listSwarms(documents: readonly SourceDocument[]): BundleSwarms['swarms'] {
  const loneAgent = findLoneAgent(readIdentities(documents));
  if (loneAgent !== undefined) return [{ name: loneAgent }];
  return documents.flatMap(({ value, isBroken }) => {
    if (isBroken || !isPlainObject(value) || value['kind'] !== 'Swarm') return [];
    const { resource, isRepaired = false } = parseResource(value);
    // A swarm without a wrong `workspace` would be another one.
    if (resource?.kind !== 'Swarm' || isRepaired) return [];
    const { workspace } = resource.spec;
    return [{ name: resource.metadata.name, ...(workspace === undefined ? {} : { workspace }) }];
  });
}
