import type { Examine } from '../config/examination.ts';
import type { SwarmPlan } from '../config/swarm-plan.ts';
import type { ReportedChangeset } from '../control/reload-result.ts';
import { defined } from '../json/defined.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import { openChangesets } from '../workspace/changesets/open-changesets.ts';
import type { StoreWarning } from '../workspace/store-ports.ts';
import { finishBeforeRead } from './changesets/finish-before-read.ts';
import type { ChangesetSource } from './changesets/examine-changeset.ts';
import { type NodeBundle, readDeployedPlan } from './start/node-bundle.ts';
import type { SwarmAgents } from './swarm/swarm-agents.ts';

interface BundlePlace {
  readonly stateRoot: string;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly bundleFolder?: string;
  readonly examine?: Examine;
  readonly readPlan?: () => Promise<SwarmPlan>;
  readonly flock?: boolean;
}

/** The changes of the bundle that a swarm was started from. */
export interface BundleChanges {
  /** Absent if the swarm was not started from a bundle. */
  readonly source?: ChangesetSource;
  /** Reads the plan again, after interrupted changes of the bundle are finished. Absent if the plan cannot be read again. */
  readonly readPlan?: () => Promise<SwarmPlan>;
  /** Returns the changeset that a living `gdn changes undo` is undoing. */
  readonly findUndo: () => Promise<ReportedChangeset | undefined>;
}

export function openBundleChanges(
  { stateRoot, bundleFolder, examine, readPlan, ids, clock, flock = true }: BundlePlace,
  swarm: Pick<SwarmAgents, 'report'>,
  deployed?: NodeBundle,
): BundleChanges {
  if (bundleFolder === undefined || examine === undefined) {
    return { findUndo: async () => undefined, ...defined({ readPlan }) };
  }
  const warn = ({ path, message }: StoreWarning) => swarm.report('warn', 'changeset.damaged', `${path}: ${message}`);
  const store = openChangesets({ stateRoot, bundleFolder, clock, ids, warn, ...(flock ? {} : { flock }) });
  return {
    source: { store, examine, ...(deployed && { deploy: (by, apply) => deployed.deployChange(by, apply) }) },
    ...defined({
      readPlan:
        readPlan &&
        (async () => {
          await finishBeforeRead(store, clock, (...line) => swarm.report(...line));
          return deployed === undefined ? readPlan() : readDeployedPlan(deployed, readPlan);
        }),
    }),
    async findUndo() {
      const found = (await store.list()).find(({ state }) => state === 'undoing');
      return found && { id: found.id, agent: found.agent, undone: true, ...defined({ by: found.undone?.by }) };
    },
  };
}
