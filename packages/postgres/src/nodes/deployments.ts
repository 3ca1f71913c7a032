/** The packed bundles of a swarm, and the one that its nodes run. */
import type { BundleOfNode, Deployment, Deployments, NewDeployment } from '@goondan/runtime/history';
import { GoondanError } from '@goondan/types';
import type { Row } from '../driver/database.ts';
import { scanHint } from './hints.ts';
import type { SwarmRows } from './swarm-rows.ts';

/** The most bytes of a packed bundle. */
export const MOST_BUNDLE_BYTES = 32 * 1024 * 1024;
/** The number of bundles that are kept; a node that is late may still read an older one. */
const KEPT_BUNDLES = 10;
/** The most characters of the reason why a node refused a bundle. */
const LONGEST_PROBLEM = 2_000;

interface DeployedRow extends Row {
  readonly deployed: string;
  readonly deployed_at: Date;
  readonly deployed_by: string;
}

type ChangeListener = Parameters<Deployments['onChange']>[0];

export class PostgresDeployments implements Deployments {
  readonly #listeners = new Set<ChangeListener>();
  /** The digest that the listeners know; `undefined` before the first look. */
  #known: string | null | undefined;

  constructor(private readonly rows: SwarmRows) {}

  async current(): Promise<Deployment | undefined> {
    const [row] = await this.rows.database.query<DeployedRow>(
      'select deployed, deployed_at, deployed_by from gdn_swarm where swarm = $1 and deployed is not null',
      [this.rows.swarm],
    );
    this.#known ??= row?.deployed ?? null;
    return row && { digest: row.deployed, at: row.deployed_at, by: row.deployed_by };
  }

  async read(digest: string): Promise<Uint8Array> {
    const [row] = await this.rows.database.query<{ readonly bytes: Uint8Array }>(
      'select bytes from gdn_bundle where swarm = $1 and digest = $2',
      [this.rows.swarm, digest],
    );
    if (row !== undefined) return row.bytes;
    throw new GoondanError('E_STORE_READ', `The store has no bundle with the digest ${digest}.`);
  }

  async put({ digest, bytes, by, base }: NewDeployment): Promise<boolean> {
    if (bytes.byteLength > MOST_BUNDLE_BYTES) {
      throw new GoondanError(
        'E_STORE_WRITE',
        `The packed bundle has ${bytes.byteLength} bytes; at most ${MOST_BUNDLE_BYTES} can be deployed.`,
        { suggestion: 'Keep large files outside of the bundle.' },
      );
    }
    const values = [this.rows.swarm, digest, bytes, by, base === undefined, base ?? null];
    return (await this.rows.database.query(putStatement(this.rows.channel), values)).length > 0;
  }

  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async tell(node: string, { digest, refused }: BundleOfNode): Promise<void> {
    await this.rows.database.query(
      `update gdn_node set bundle = $3, refused = $4, refusal = $5
where swarm = $1 and name = $2 and lease_until > clock_timestamp()`,
      [this.rows.swarm, node, digest, refused?.digest ?? null, refused?.problem.slice(0, LONGEST_PROBLEM) ?? null],
    );
  }

  /** Notes the deployed bundle that a scan found, and tells the listeners if it is another one. */
  heard(deployed: Deployment): void {
    if (this.#known === deployed.digest) return;
    this.#known = deployed.digest;
    for (const listener of this.#listeners) listener(deployed);
  }
}

/**
 * A deployment that is repeated, because its answer was lost, succeeds. Whether the current bundle is the base is
 * decided with the row locked, so one of two deployments with the same base succeeds.
 */
function putStatement(channel: string | undefined): string {
  return `with put as (
  insert into gdn_swarm as s (swarm, deployed, deployed_at, deployed_by)
  select $1, $2, clock_timestamp(), $4
  where $5 or $6::text is null or exists (select 1 from gdn_swarm where swarm = $1)
  on conflict (swarm) do update
    set deployed = $2, deployed_at = clock_timestamp(), deployed_by = $4
    where $5 or s.deployed is not distinct from $6::text or s.deployed = $2
  returning 1
), kept as (
  insert into gdn_bundle (swarm, digest, bytes) select $1, $2, $3 from put
  on conflict (swarm, digest) do update set at = clock_timestamp()
), dropped as (
  delete from gdn_bundle where swarm = $1 and digest <> $2 and exists (select 1 from put) and digest in (
    select digest from gdn_bundle where swarm = $1 and digest <> $2 order by at desc offset ${KEPT_BUNDLES - 1}
  )
)
select ${scanHint(channel)} from put`;
}
