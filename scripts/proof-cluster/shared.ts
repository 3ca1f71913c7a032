/** The pieces that most proofs need: the bundle, a store with nodes, and the sum of many rounds. */
import { join } from 'node:path';
import { openPostgresReader } from '../../packages/postgres/src/store/open-reader.ts';
import type { Disturbed } from '../../test/cluster/disturb.ts';
import { type Cluster, type ClusterOptions, startCluster } from '../../test/cluster/start-cluster.ts';
import { INPUTS } from '../../test/cluster/workload.ts';
import type { Findings } from './proof.ts';

export const BUNDLE = join(import.meta.dir, '../../test/cluster/bundle');

/** The lease of the nodes, in seconds. */
export const LEASE_SECONDS = 1;

export function startNodes(
  store: string,
  nodes: number,
  { readAt = store, ...more }: Pick<ClusterOptions, 'prefix' | 'env' | 'listen'> & { readonly readAt?: string } = {},
): Promise<Cluster> {
  const openReader = (swarm: string) => openPostgresReader({ address: readAt, swarm });
  return startCluster({ bundleFolder: BUNDLE, store, openReader, nodes, leaseSeconds: LEASE_SECONDS, ...more });
}

/** Adds up rounds of work. */
export class Sum {
  readonly #problems: string[] = [];
  readonly #longest: number[] = [];
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

  findings(figures: Readonly<Record<string, number | string>> = {}): Findings {
    const sorted = this.#longest.toSorted((one, other) => one - other);
    const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN);
    return {
      figures: {
        rounds: sorted.length,
        events: sorted.length * INPUTS,
        lost: this.#lost,
        twice: this.#twice,
        'sent again': this.#repeats,
        'longest answer of a round, ms': `median ${at(0.5)}, most ${at(1)}`,
        ...figures,
      },
      problems: this.#problems,
    };
  }
}
