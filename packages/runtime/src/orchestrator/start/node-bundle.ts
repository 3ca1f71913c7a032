/**
 * The bundle of a node: a copy in the node's own folder, of the bundle that is deployed for all nodes.
 *
 * Invariants:
 * 1. A node runs the deployed bundle. The first start of a swarm deploys its own; every later start takes the deployed one,
 *    and says so if its folder has another. So an old folder on some machine never replaces the deployed bundle.
 * 2. A deployed bundle that cannot be put in force changes nothing here: the files of the bundle before are put back.
 * 3. The files change only on the road of reloads, so never under a changeset or another deployment.
 * 4. A changeset is deployed only if the deployed bundle is the one that it was made on.
 */
import { copyFileSync, existsSync, lstatSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type KeptOut, packBundle, unpackBundle } from '../../workspace/packs/pack-bundle.ts';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import { messageOf } from '../../ipc/check/frame-error.ts';
import type { BundleOfNode, ClusterPlacement, Deployment, Deployments } from '../../store/cluster-store.ts';

export interface NodeBundleDeps {
  readonly deployments: Deployments;
  readonly placement: Pick<ClusterPlacement, 'node'>;
  /** The folder from which the node was started. */
  readonly startFolder: string;
  /** The folder of the copy. Only this node uses it. */
  readonly folder: string;
  /** The files and texts that are never deployed. */
  readonly keptOut: KeptOut;
  /** Told that the start folder has another bundle than the deployed one, which the node runs. */
  readonly warn: (message: string) => void;
}

export class NodeBundle {
  #digest = '';

  constructor(private readonly deps: NodeBundleDeps) {}

  /** The folder of the copy. */
  get folder(): string {
    return this.deps.folder;
  }

  /** The digest of the bundle whose plan is in force. */
  get digest(): string {
    return this.#digest;
  }

  /**
   * Puts the deployed bundle into the folder of this node; without one, deploys that of the start folder. **Errors** — those of
   * the store and of the disk; without a deployed bundle also those of packing.
   */
  async settle(): Promise<void> {
    const { deployments } = this.deps;
    const current = (await deployments.current()) ?? (await this.#deployFirst());
    if (current === undefined) return;
    this.#put(await deployments.read(current.digest));
    this.#warnOfOther(current);
  }

  /** Puts another deployed bundle into the folder, if there is one. Returns the digest of the one before. */
  async takeDeployed(): Promise<string | undefined> {
    const current = await this.deps.deployments.current();
    if (current === undefined || current.digest === this.#digest) return undefined;
    const before = this.#digest;
    this.#put(await this.deps.deployments.read(current.digest));
    return before;
  }

  /** Puts an earlier bundle back. */
  async putBack(digest: string): Promise<void> {
    this.#put(await this.deps.deployments.read(digest));
  }

  /**
   * Deploys the files that a changeset has put into the folder, and then runs `apply`. If `apply` rejects, the bundle
   * before is deployed again. `by`: who changed it. Returns `undefined` if another bundle was deployed meanwhile; `apply`
   * was not called then.
   */
  async deployChange<Value>(by: string, apply: () => Promise<Value>): Promise<Value | undefined> {
    const { deployments, folder, keptOut } = this.deps;
    const before = this.#digest;
    const packed = packBundle(folder, keptOut);
    if (!(await deployments.put({ ...packed, by, base: before }))) return undefined;
    this.#digest = packed.digest;
    try {
      return await apply();
    } catch (error) {
      this.#digest = before;
      const bytes = await deployments.read(before);
      await deployments.put({ digest: before, bytes, by, base: packed.digest });
      throw error;
    }
  }

  /** Tells the store which bundle this node has. **Errors** — those of the store. */
  async tell(refused?: BundleOfNode['refused']): Promise<void> {
    await this.deps.deployments.tell(this.deps.placement.node, { digest: this.#digest, ...(refused && { refused }) });
  }

  /** Deploys the bundle of the start folder. Returns that of another node that was faster. */
  async #deployFirst(): Promise<Deployment | undefined> {
    const { deployments, placement, startFolder, keptOut } = this.deps;
    const packed = packBundle(startFolder, keptOut);
    if (!(await deployments.put({ ...packed, by: placement.node, base: null }))) return deployments.current();
    this.#put(packed.bytes);
    return undefined;
  }

  #warnOfOther({ digest, by }: Deployment): void {
    const { placement, startFolder, keptOut, warn } = this.deps;
    const own = packedDigest(startFolder, keptOut);
    if (own === digest) return;
    const folder = `The folder of node "${placement.node}" has ${own === undefined ? 'no bundle that can be deployed' : `bundle ${own.slice(0, 12)}`}`;
    const deployed = `The node runs the deployed bundle ${digest.slice(0, 12)}, deployed by ${by}.`;
    warn(`${folder}. ${deployed} \`gdn deploy\` replaces it.`);
  }

  #put(bytes: Uint8Array): void {
    const { startFolder, folder } = this.deps;
    this.#digest = unpackBundle(bytes, folder);
    // Values of the environment and installed packages are of the node.
    const [from, to] = [join(startFolder, '.env'), join(folder, '.env')];
    if (existsSync(from)) copyFileSync(from, to);
    else rmSync(to, { force: true });
    linkPackages(startFolder, folder);
  }
}

/** Returns the digest of a folder's bundle; `undefined` if it cannot be packed. */
function packedDigest(folder: string, keptOut: KeptOut): string | undefined {
  try {
    return packBundle(folder, keptOut).digest;
  } catch {
    return undefined;
  }
}

/** Lets imports of the copy find the packages that the start folder finds. */
function linkPackages(startFolder: string, folder: string): void {
  const link = join(folder, 'node_modules');
  if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) rmSync(link);
  for (let at = startFolder; ; at = dirname(at)) {
    const packages = join(at, 'node_modules');
    if (existsSync(packages)) return symlinkSync(packages, link);
    if (dirname(at) === at) return;
  }
}

export interface FollowDeps {
  readonly bundle: NodeBundle;
  readonly deployments: Deployments;
  /** Reads the plan from the folder, tries it and puts it in force; see `swarmReloader`. */
  readonly reload: () => Promise<unknown>;
  /** Runs work while no reload runs. */
  readonly alone: (work: () => Promise<void>) => Promise<void>;
  readonly report: (level: 'info' | 'error', event: string, message: string) => void;
}

/** Reads the plan after the deployed bundle is in the folder. It runs on the road of reloads. */
export async function readDeployedPlan(bundle: NodeBundle, read: () => Promise<SwarmPlan>): Promise<SwarmPlan> {
  const before = await bundle.takeDeployed();
  try {
    return await read();
  } catch (error) {
    if (before !== undefined) await bundle.putBack(before);
    throw error;
  }
}

/**
 * Takes each deployed bundle like a reload, and tells the store which bundle the node has. Returns a function that ends
 * this.
 */
export function followDeployments({ bundle, deployments, reload, alone, report }: FollowDeps): () => void {
  const tell = (refused?: BundleOfNode['refused']) =>
    bundle
      .tell(refused)
      .catch((error: unknown) =>
        report('error', 'deploy.not_told', `The store does not know the bundle of this node: ${messageOf(error)}`),
      );
  const take = async ({ digest, by }: Deployment): Promise<void> => {
    if (digest === bundle.digest) return tell();
    const before = bundle.digest;
    const named = `${digest.slice(0, 12)}, deployed by ${by},`;
    try {
      await reload();
      report('info', 'deploy.taken', `Bundle ${named} is in force.`);
      await tell();
    } catch (error) {
      const problem = messageOf(error);
      report('error', 'deploy.refused', `Bundle ${named} was refused, and nothing has changed: ${problem}`);
      const putBack = async () => {
        if (bundle.digest !== before) await bundle.putBack(before);
      };
      await alone(putBack).catch((failure: unknown) =>
        report('error', 'deploy.refused', `Its files could not be put back: ${messageOf(failure)}`),
      );
      await tell({ digest, problem });
    }
  };
  // One after the other, so that no bundle is told as taken while it is being tried.
  let last = takeMissed();
  return deployments.onChange((deployed) => {
    last = last.then(() => take(deployed));
  });

  /** Takes a bundle that was deployed while this node started, before anybody listened. */
  async function takeMissed(): Promise<void> {
    try {
      const current = await deployments.current();
      await (current === undefined ? tell() : take(current));
    } catch (error) {
      report('error', 'deploy.refused', `The deployed bundle cannot be read: ${messageOf(error)}`);
    }
  }
}
