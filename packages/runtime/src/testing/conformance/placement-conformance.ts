import type { GoondanError } from '@goondan/types';
import type { Placement } from '../../store/placement.ts';
import {
  address,
  checksOf,
  expectEqual,
  expectRefusal,
  type OpenSeams,
  otherAddress,
  type RegisterCheck,
} from './conformance.ts';

/** The nodes of one swarm. */
export interface PlacementSeams {
  /** Joins the swarm as another node. A store for a single node refuses the second one with `E_SWARM_RUNNING`. */
  readonly join: (name: string) => Promise<Placement>;
  /** Takes the place from a node, as the end of its lease or the removal of its files does. */
  readonly takeAway: (placement: Placement) => Promise<void>;
}

/** Checks the promises of `Placement`. */
export function placementConformance(register: RegisterCheck, open: OpenSeams<PlacementSeams>): void {
  const check = checksOf(register, open);

  check('a node claims an instance, also twice', async ({ join }) => {
    const node = await join('one');
    expectEqual(await node.claim(address), true, 'a free instance can be claimed');
    expectEqual(await node.claim(address), true, 'an own instance can be claimed again');
    node.check(address);
    node.check();
  });

  check('an instance belongs to one node', async ({ join }) => {
    const node = await join('one');
    await node.claim(address);
    const other = await joinOrRefuse(join, 'two');
    if (other === undefined) return;
    expectEqual(await other.claim(address), false, 'an instance of another node cannot be claimed');
    expectEqual(await other.claim(otherAddress), true, 'other instances can');
    expectEqual(await node.claim(otherAddress), false, 'and belong to that node');
    node.check(address);
  });

  check('of two claims at the same time one succeeds', async ({ join }) => {
    const node = await join('one');
    const other = await joinOrRefuse(join, 'two');
    if (other === undefined) return;
    const claims = await Promise.all([node, other].map((each) => each.claim(address)));
    expectEqual(claims.filter(Boolean).length, 1, 'one node owns the instance');
  });

  check('a released instance can be claimed by another node', async ({ join }) => {
    const node = await join('one');
    await node.claim(address);
    await node.release(address);
    await node.release(otherAddress);
    const other = await joinOrRefuse(join, 'two');
    if (other !== undefined) expectEqual(await other.claim(address), true, 'nobody owns a released instance');
  });

  check('a release does not take an instance from another node', async ({ join }) => {
    const node = await join('one');
    await node.claim(address);
    const other = await joinOrRefuse(join, 'two');
    if (other === undefined) return;
    await other.release(address);
    expectEqual(await other.claim(address), false, 'the instance still belongs to the first node');
  });

  check('a node that left frees its instances', async ({ join }) => {
    const node = await join('one');
    await node.claim(address);
    expectEqual(
      (await node.nodes()).map(({ name }) => name),
      [node.node],
      'a node is listed under its name',
    );
    await node.leave();
    const next = await join('two');
    expectEqual(await next.claim(address), true, 'its instances can be claimed');
    expectEqual(
      (await next.nodes()).map(({ name }) => name),
      [next.node],
      'a node that left is not listed',
    );
  });

  check('a node that lost its place is told and refused', async ({ join, takeAway }) => {
    const node = await join('one');
    await node.claim(address);
    const told: string[] = [];
    const tell = (error: GoondanError) => void told.push(error.code);
    node.onLost(tell);
    expectEqual(told, [], 'nothing is lost yet');
    await takeAway(node);
    for (const at of [undefined, address]) {
      await expectRefusal(async () => node.check(at), ['E_FENCED'], 'a lost node is refused before it writes');
    }
    await expectRefusal(() => node.claim(otherAddress), ['E_FENCED'], 'a lost node cannot claim');
    expectEqual(told, ['E_FENCED'], 'the listener is told once');
    node.onLost(tell);
    expectEqual(told, ['E_FENCED', 'E_FENCED'], 'a later listener is told, too');
  });
}

/** Returns `undefined` if the store is for a single node. */
async function joinOrRefuse(join: PlacementSeams['join'], name: string): Promise<Placement | undefined> {
  let joined: Placement | undefined;
  const attempt = async () => {
    joined = await join(name);
  };
  await attempt().catch((error: unknown) =>
    expectRefusal(() => Promise.reject(error), ['E_SWARM_RUNNING'], 'a store for one node refuses the second one'),
  );
  return joined;
}
