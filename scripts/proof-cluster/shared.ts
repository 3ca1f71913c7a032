/** The pieces that most proofs need: the bundle, a store with nodes, and the sum of many rounds. */
import { join } from 'node:path';
import { openPostgresReader } from '../../packages/postgres/src/store/open-reader.ts';
import { type Audit, auditWrites } from '../../test/cluster/audit-writes.ts';
import type { Disturbed } from '../../test/cluster/disturb.ts';
import { type Cluster, type ClusterOptions, initStore, startCluster } from '../../test/cluster/start-cluster.ts';
import { INPUTS } from '../../test/cluster/workload.ts';
import type { Findings } from './proof.ts';

export const BUNDLE = join(import.meta.dir, '../../test/cluster/bundle');

/** The lease of the nodes, in seconds. With one second, the nodes of a busy machine lose their places all the time. */
export const LEASE_SECONDS = 2;

export interface AuditedCluster extends Cluster {
  readonly audit: Audit;
}

interface NodesOptions extends Pick<ClusterOptions, 'prefix' | 'env' | 'listen' | 'leaseSeconds'> {
  /** The address of the store for the proof itself; that of the nodes when absent. */
  readonly readAt?: string;
}

/** Starts nodes whose writes are audited. */
export async function startNodes(
  store: string,
  nodes: number,
  { readAt = store, env = () => ({}), ...more }: NodesOptions = {},
): Promise<AuditedCluster> {
  await initStore(readAt);
  const names = Array.from({ length: nodes }, (_, index) => `node-${index + 1}`);
  const audit = await auditWrites(readAt, names);
  const cluster = await startCluster({
    bundleFolder: BUNDLE,
    store,
    openReader: (swarm) => openPostgresReader({ address: readAt, swarm }),
    nodes,
    leaseSeconds: LEASE_SECONDS,
    env: (name) => ({ GOONDAN_STORE: audit.addressOf(store, name), ...env(name) }),
    ...more,
  });
  return {
    ...cluster,
    audit,
    async [Symbol.asyncDispose]() {
      await cluster[Symbol.asyncDispose]();
      await audit[Symbol.asyncDispose]();
    },
  };
}

/** Adds up rounds of work. */
export class Sum {
  readonly #problems: string[] = [];
  readonly #longest: number[] = [];
  readonly #takeOvers: number[] = [];
  #lost = 0;
  #twice = 0;
  #repeats = 0;

  add(round: string, { problems, lost, twice, result }: Disturbed): void {
    this.#problems.push(...problems.map((problem) => `${round}: ${problem}`));
    this.#longest.push(result.longestMs);
    this.#lost += lost;
    this.#twice += twice;
    this.#repeats += result.repeats;
  }

  /** Adds the times from the failure of a node until another node owned its conversations. */
  addTakeOvers(milliseconds: readonly number[]): void {
    this.#takeOvers.push(...milliseconds);
  }

  async findings(audit: Audit, figures: Readonly<Record<string, number | string>> = {}): Promise<Findings> {
    const { writes, refused, takeOvers, violations } = await audit.read();
    return {
      figures: {
        rounds: this.#longest.length,
        events: this.#longest.length * INPUTS,
        lost: this.#lost,
        twice: this.#twice,
        'sent again': this.#repeats,
        'longest answer of a round, ms': spread(this.#longest),
        writes,
        'writes that were refused, or had happened before': refused,
        'writes of a node that was not the owner': violations.length,
        'conversations taken over': takeOvers,
        ...(this.#takeOvers.length > 0 && {
          'interrupted turns, ms from the failure to the next owner': spread(this.#takeOvers),
        }),
        ...figures,
      },
      problems: [...this.#problems, ...violations],
    };
  }
}

function spread(milliseconds: readonly number[]): string {
  const sorted = milliseconds.toSorted((one, other) => one - other);
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN);
  return `median ${at(0.5)}, most ${at(1)}`;
}
