import { afterEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import type { BundleOfNode, Deployment, Deployments } from '../../store/cluster-store.ts';
import { temporaryBundle } from '../../testing/temporary-bundle.ts';
import { packBundle } from '../../workspace/packs/pack-bundle.ts';
import { until } from '../../../../../test/until.ts';
import { followDeployments, NodeBundle, readDeployedPlan } from './node-bundle.ts';

const folders: { [Symbol.dispose](): void }[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder[Symbol.dispose]();
});

function folderWith(files: Readonly<Record<string, string>>): string {
  const made = temporaryBundle(files);
  folders.push(made);
  return made.folder;
}

/** Deployments in memory, as all nodes see them. */
class MemoryDeployments implements Deployments {
  readonly bundles = new Map<string, Uint8Array>();
  readonly #listeners = new Set<(deployed: Deployment) => void>();
  now: Deployment | undefined;
  readonly told: BundleOfNode[] = [];

  tell = async (_: string, bundle: BundleOfNode) => void this.told.push(bundle);

  current = async () => this.now;
  onChange = (listener: (deployed: Deployment) => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  async read(digest: string): Promise<Uint8Array> {
    const bytes = this.bundles.get(digest);
    if (bytes === undefined) throw new Error(`no bundle ${digest}`);
    return bytes;
  }

  async put({ digest, bytes, by, base }: Parameters<Deployments['put']>[0]): Promise<boolean> {
    if (base !== undefined && base !== (this.now?.digest ?? null)) return false;
    this.bundles.set(digest, bytes);
    this.now = { digest, at: new Date(0), by };
    for (const listener of this.#listeners) listener(this.now);
    return true;
  }
}

function nodeBundle(deployments: Deployments, startFolder: string, warnings: string[] = []): NodeBundle {
  return new NodeBundle({
    deployments,
    placement: { node: 'own' },
    startFolder,
    folder: join(folderWith({}), 'bundle'),
    keptOut: { paths: [join(startFolder, 'store.txt')], secrets: ['token-of-the-cluster'] },
    warn: (message) => void warnings.push(message),
  });
}

const one = { 'goondan.yaml': 'kind: Swarm # one\n' };
const two = { 'goondan.yaml': 'kind: Swarm # two\n' };
const yamlOf = ({ folder }: NodeBundle) => readFileSync(join(folder, 'goondan.yaml'), 'utf8');

describe('S-09 the bundle of a node', () => {
  test('becomes the deployed one at the first start of the swarm', async () => {
    const deployments = new MemoryDeployments();
    const first = nodeBundle(deployments, folderWith(one));
    await first.settle();
    expect(deployments.now).toMatchObject({ digest: first.digest, by: 'own' });
    expect(yamlOf(first)).toBe(one['goondan.yaml']);
  });

  test('is the deployed one at every later start, and a folder with another one is told', async () => {
    const deployments = new MemoryDeployments();
    await deployments.put({ ...packBundle(folderWith(one)), by: 'ann' });
    const warnings: string[] = [];
    await nodeBundle(deployments, folderWith(one), warnings).settle();
    expect(warnings).toEqual([]);
    const old = nodeBundle(deployments, folderWith(two), warnings);
    await old.settle();
    expect(yamlOf(old)).toBe(one['goondan.yaml']);
    const [own, deployed] = [two, one].map((files) => packBundle(folderWith(files)).digest.slice(0, 12));
    expect(warnings).toEqual([
      `The folder of node "own" has bundle ${own}. The node runs the deployed bundle ${deployed}, deployed by ann. \`gdn deploy\` replaces it.`,
    ]);
    expect(deployments.now?.by).toBe('ann');
  });

  test('is the deployed one for a folder that cannot be deployed itself', async () => {
    const deployments = new MemoryDeployments();
    await deployments.put({ ...packBundle(folderWith(one)), by: 'ann' });
    const warnings: string[] = [];
    const leaky = nodeBundle(deployments, folderWith({ ...two, 'a.txt': 'x token-of-the-cluster' }), warnings);
    await leaky.settle();
    expect(yamlOf(leaky)).toBe(one['goondan.yaml']);
    expect(warnings).toHaveLength(1);
  });

  test('is that of another first start at the same time, if that one was faster', async () => {
    const deployments = new MemoryDeployments();
    const nodes = [one, one, two].map((files) => nodeBundle(deployments, folderWith(files)));
    await Promise.all(nodes.map((node) => node.settle()));
    expect(nodes.map(yamlOf)).toEqual([one, one, one].map((files) => files['goondan.yaml']));
  });

  test('has the environment and the packages of the start folder, and never changes that folder', async () => {
    const deployments = new MemoryDeployments();
    const start = folderWith({ ...one, '.env': 'KEY=value\n', 'node_modules/p/index.js': 'x' });
    const bundle = nodeBundle(deployments, start);
    await bundle.settle();
    expect(readFileSync(join(bundle.folder, '.env'), 'utf8')).toBe('KEY=value\n');
    expect(readFileSync(join(bundle.folder, 'node_modules/p/index.js'), 'utf8')).toBe('x');
    await deployments.put({ ...packBundle(folderWith(two)), by: 'somebody' });
    await bundle.takeDeployed();
    expect(yamlOf(bundle)).toBe(two['goondan.yaml']);
    expect(readFileSync(join(start, 'goondan.yaml'), 'utf8')).toBe(one['goondan.yaml']);
    expect(existsSync(join(start, 'node_modules/p/index.js'))).toBe(true);
  });
});

describe('S-06 a secret of the cluster', () => {
  test('is not deployed by the first start', async () => {
    const deployments = new MemoryDeployments();
    const start = folderWith({ ...one, 'store.txt': 'postgres://me:hush@db/gdn' });
    const bundle = nodeBundle(deployments, start);
    await bundle.settle();
    expect(bundle.digest).toBe(packBundle(folderWith(one)).digest);
    expect(existsSync(join(bundle.folder, 'store.txt'))).toBe(false);
    const leaky = nodeBundle(new MemoryDeployments(), folderWith({ ...one, 'a.txt': 'x token-of-the-cluster' }));
    expect(await leaky.settle().catch((error: unknown) => error)).toMatchObject({ code: 'E_BUNDLE_SECRET' });
  });

  test('is not deployed by a changeset', async () => {
    const deployments = new MemoryDeployments();
    const bundle = nodeBundle(deployments, folderWith(one));
    await bundle.settle();
    writeFileSync(join(bundle.folder, 'a.txt'), 'token-of-the-cluster');
    const refused = await bundle.deployChange('agent a', async () => 'applied').catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_BUNDLE_SECRET' });
    expect(deployments.bundles.size).toBe(1);
  });
});

describe('S-09 a deployment', () => {
  async function openFollowing(
    read: (bundle: NodeBundle) => Promise<SwarmPlan>,
    meanwhile: (deployments: MemoryDeployments) => Promise<void> = async () => undefined,
  ) {
    const deployments = new MemoryDeployments();
    const bundle = nodeBundle(deployments, folderWith(one));
    await bundle.settle();
    await meanwhile(deployments);
    const told: string[] = [];
    const done: Promise<unknown>[] = [];
    const end = followDeployments({
      bundle,
      deployments,
      reload: () => {
        const reloaded = readDeployedPlan(bundle, () => read(bundle));
        done.push(reloaded.catch(() => undefined));
        return reloaded;
      },
      alone: (work) => {
        const worked = work();
        done.push(worked);
        return worked;
      },
      report: (_, event) => void told.push(event),
    });
    return { deployments, bundle, told, done, end };
  }
  const plan: SwarmPlan = { name: 'shop', agents: [] };

  test('is taken like a reload', async () => {
    const { deployments, bundle, told, done } = await openFollowing(async () => plan);
    await deployments.put({ ...packBundle(folderWith(two)), by: 'somebody' });
    await until(() => told.length === 1);
    expect(yamlOf(bundle)).toBe(two['goondan.yaml']);
    expect(told).toEqual(['deploy.taken']);
    await deployments.put({ ...packBundle(folderWith(two)), by: 'somebody' });
    await Bun.sleep(1);
    expect(done).toHaveLength(1);
    expect(deployments.told.at(-1)).toEqual({ digest: packBundle(folderWith(two)).digest });
  });

  test('of the time in which the node started is taken, too', async () => {
    const { deployments, bundle, told } = await openFollowing(
      async () => plan,
      async (store) => {
        const packed = packBundle(folderWith(two));
        store.bundles.set(packed.digest, packed.bytes);
        store.now = { digest: packed.digest, at: new Date(0), by: 'somebody' };
      },
    );
    await until(() => deployments.told.length === 1);
    expect(yamlOf(bundle)).toBe(two['goondan.yaml']);
    expect(told).toEqual(['deploy.taken']);
    expect(deployments.told).toEqual([{ digest: bundle.digest }]);
  });

  test('that cannot be read changes nothing: the files of the bundle before are put back', async () => {
    const { deployments, bundle, told, done } = await openFollowing(async () => {
      throw new Error('not valid');
    });
    const before = bundle.digest;
    await deployments.put({ ...packBundle(folderWith(two)), by: 'somebody' });
    await until(() => deployments.told.length === 2);
    await Promise.all(done);
    expect(yamlOf(bundle)).toBe(one['goondan.yaml']);
    expect(bundle.digest).toBe(before);
    expect(told).toEqual(['deploy.refused']);
    const refused = { digest: packBundle(folderWith(two)).digest, problem: 'not valid' };
    expect(deployments.told).toEqual([{ digest: before }, { digest: before, refused }]);
  });

  test('of a changeset succeeds only if the deployed bundle is its base, and is undone if it cannot be applied', async () => {
    const { deployments, bundle } = await openFollowing(async () => plan);
    const before = bundle.digest;
    mkdirSync(join(bundle.folder, 'tools'));
    writeFileSync(join(bundle.folder, 'tools/new.ts'), 'export {};\n');
    const failing = bundle.deployChange('agent a', async () => {
      throw new Error('does not start');
    });
    expect(await failing.catch(String)).toContain('does not start');
    expect(deployments.now?.digest).toBe(before);
    expect(await bundle.deployChange('agent a', async () => 'applied')).toBe('applied');
    expect(deployments.now).toMatchObject({ digest: bundle.digest, by: 'agent a' });
    deployments.now = { digest: 'other', at: new Date(0), by: 'somebody' };
    writeFileSync(join(bundle.folder, 'tools/new.ts'), 'export const x = 1;\n');
    let isApplied = false;
    const conflict = await bundle.deployChange('agent a', async () => {
      isApplied = true;
      return 'applied';
    });
    expect([conflict, isApplied]).toEqual([undefined, false]);
  });
});
