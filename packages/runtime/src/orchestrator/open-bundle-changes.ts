import type { Examine } from '../config/examination.ts';
import type { Ids } from '../ports/ids.ts';
import { openChangesets } from '../workspace/changesets/open-changesets.ts';
import type { StoreWarning } from '../workspace/store-ports.ts';
import { type ChangesetDeps, serveChangesets } from './changesets/serve-changesets.ts';

interface BundlePlace {
  readonly stateRoot: string;
  readonly ids: Ids;
  readonly bundleFolder?: string;
  readonly examine?: Examine;
  readonly flock?: boolean;
}

/** Lets agents change the bundle, if the swarm was started from one. */
export function openBundleChanges(
  { stateRoot, bundleFolder, examine, ids, flock = true }: BundlePlace,
  deps: ChangesetDeps,
) {
  if (bundleFolder === undefined || examine === undefined) return serveChangesets(deps, undefined);
  const { clock, swarm } = deps;
  const warn = ({ path, message }: StoreWarning) => swarm.report('warn', 'changeset.damaged', `${path}: ${message}`);
  const store = openChangesets({ stateRoot, bundleFolder, clock, ids, warn, ...(flock ? {} : { flock }) });
  return serveChangesets(deps, { store, examine });
}
