/**
 * Asks an instance that any node may own, and follows its turn from node to node.
 *
 * 1. The event has a fixed id, so that a second delivery adds nothing, and a handled event repeats its result.
 * 2. `onAccepted` is called once. From then on, the loss of a node only makes the wait longer.
 * 3. Notices of this node come from one watch, which is there before the event is accepted and stays when the turn moves. So a
 *    turn that this node takes over is seen from its start.
 * 4. With `cancelOnDisconnect`, the owner cancels the turn when it loses this node. So a connection to an earlier owner stays
 *    open until the end: it must not cancel a turn that has moved.
 * 5. The owner is looked up again and again, because a node that is cut off may keep its connection open.
 */
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { Acceptance, AskOptions, Delivery, Swarm, TurnEnd } from '../../control/swarm.ts';
import { toAgentAddress, toInstanceAddress } from '../../control/instance-address.ts';
import { type Clock, sleep } from '../../ports/clock.ts';
import { MergedNotices } from './merge-notices.ts';
import { isGone, type OtherNode, type OtherNodes } from './other-nodes.ts';

/** The first and the longest pause between two attempts. */
const FIRST_MS = 100;
const LONGEST_PAUSE_MS = 1_000;
/** The first pause before a look at the owner while this node owns the instance, and the longest one. */
const FIRST_LOOK_HERE_MS = 2_000;
const LONGEST_LOOK_MS = 5_000;

export interface RelayAskDeps {
  readonly local: Swarm;
  readonly nodes: OtherNodes;
  readonly clock: Clock;
  /** Cancels the turn of an event at any node; see `Swarm.cancel`. */
  readonly cancel: Swarm['cancel'];
}

export type FixedDelivery = Delivery & Required<Pick<Delivery, 'agent' | 'instanceKey' | 'id'>>;

/** Implements `Swarm.ask`. The id of `delivery` is fixed; `isOwnId`: the client has chosen it. */
export async function relayAsk(
  deps: RelayAskDeps,
  delivery: FixedDelivery,
  isOwnId: boolean,
  { signal, left, onAccepted, onCancelled, onNotice, cancelOnDisconnect = false }: AskOptions,
): Promise<TurnEnd> {
  if (signal?.aborted) throw new GoondanError('E_CANCELLED', 'The request was cancelled before it was sent.');
  const { local, nodes, clock } = deps;
  const at = toAgentAddress(delivery);
  const merged = onNotice === undefined ? undefined : new MergedNotices(onNotice);
  const here =
    merged && (await local.watch({ ...toInstanceAddress(at), eventId: delivery.id, soFar: true }, merged.from({})));
  const over = new AbortController();
  let isAccepted = false;
  const accepted = (acceptance: Acceptance) => {
    if (isAccepted) return;
    isAccepted = true;
    // A first attempt may have been accepted although its answer was lost.
    onAccepted?.({ ...acceptance, duplicate: isOwnId && acceptance.duplicate });
    signal?.addEventListener('abort', cancel, { once: true, signal: over.signal });
    if (signal?.aborted) cancel();
  };
  const cancel = () => void cancelTurn(deps, delivery, over.signal, onCancelled);

  try {
    for (let pause = FIRST_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const owner = await placeOf(nodes, at, isAccepted);
      const moved = new AbortController();
      const follow = followOwner({ nodes, clock }, at, owner, moved);
      try {
        const away = left === undefined ? moved.signal : AbortSignal.any([moved.signal, left]);
        const options = { left: away, onAccepted: accepted };
        if (owner === undefined || owner === 'here') return await local.ask(delivery, options);
        const onward = merged === undefined ? {} : { onNotice: merged.from({}), soFar: true };
        if (!cancelOnDisconnect) return await owner.swarm.ask(delivery, { ...options, ...onward });
        const until = left === undefined ? over.signal : AbortSignal.any([over.signal, left]);
        const bound = { ...options, ...onward, left: until, cancelOnDisconnect };
        return await unlessMoved(owner.swarm.ask(delivery, bound), moved.signal);
      } catch (error) {
        left?.throwIfAborted();
        if (!moved.signal.aborted) {
          if (typeof owner === 'object' ? !isGone(error) : !isElsewhere(error)) throw error;
          if (!isAccepted) accepted(await local.deliver(delivery));
        }
      } finally {
        follow.end();
      }
      await sleep(clock, pause, left);
    }
  } finally {
    over.abort();
    here?.end();
  }
}

/** Waits for the turn, or rejects when it moves. The request goes on. */
async function unlessMoved<Value>(asked: Promise<Value>, moved: AbortSignal): Promise<Value> {
  const left = Promise.withResolvers<never>();
  moved.addEventListener('abort', () => left.reject(moved.reason), { once: true });
  // The end of the request does not count once the turn has moved.
  asked.catch(() => undefined);
  return Promise.race([asked, left.promise]);
}

/** Returns true if this node does not own the instance any more, or never did. */
function isElsewhere(error: unknown): boolean {
  return GoondanError.is(error) && error.code === 'E_FENCED' && error.retryable;
}

/** Returns the owner. After the event was accepted, an error is not an answer: nobody is the owner for now. */
async function placeOf(nodes: OtherNodes, at: AgentAddress, isAccepted: boolean): ReturnType<OtherNodes['placeOf']> {
  try {
    return await nodes.placeOf(at);
  } catch (error) {
    if (!isAccepted || (GoondanError.is(error) && error.code === 'E_CLUSTER_TOKEN')) throw error;
    return undefined;
  }
}

/** Aborts `moved` when another node than `owner` owns the instance. */
function followOwner(
  { nodes, clock }: Pick<RelayAskDeps, 'nodes' | 'clock'>,
  at: AgentAddress,
  owner: OtherNode | 'here' | undefined,
  moved: AbortController,
): { readonly end: () => void } {
  let callOff = () => {};
  let isOver = false;
  const look = (ms: number) => {
    callOff = clock.after(ms, () => {
      const again = () => {
        if (!isOver) look(Math.min(2 * ms, LONGEST_LOOK_MS));
      };
      nodes.placeOf(at).then((now) => (hasMoved(owner, now) ? moved.abort(MOVED) : again()), again);
    });
  };
  look(owner === 'here' ? FIRST_LOOK_HERE_MS : FIRST_MS);
  return {
    end: () => {
      isOver = true;
      callOff();
    },
  };
}

const MOVED = new GoondanError('E_FENCED', 'The conversation is at another node now.');

function hasMoved(from: OtherNode | 'here' | undefined, to: OtherNode | 'here' | undefined): boolean {
  if (to === undefined) return false;
  if (to === 'here') return typeof from === 'object';
  return typeof from !== 'object' || from.id !== to.id;
}

/** Cancels the turn, again and again until that is durable or the turn has ended. */
async function cancelTurn(
  { cancel, clock }: RelayAskDeps,
  { agent, instanceKey, id: eventId }: FixedDelivery,
  over: AbortSignal,
  onCancelled: (() => void) | undefined,
): Promise<void> {
  for (let pause = FIRST_MS; !over.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    if (await cancel({ agent, instanceKey, eventId }).catch(() => false)) return onCancelled?.();
    await sleep(clock, pause, over).catch(() => undefined);
  }
}
