/**
 * Model calls that count against two budgets and take one of two places. Each call is noted as far as its node knows, so
 * that the amounts of the counters can be compared afterwards with those of the calls.
 */
import type { Counters } from '@goondan/runtime/history';
import type { AgentAddress } from '@goondan/types';
import { seededRandom } from '../../../runtime/src/workspace/simulation/seeded-random.ts';

export const counted: AgentAddress = { agentName: 'coder', instanceKey: 'default' };
/** The conversation of a node that counts at the same time, and is never broken. */
export const countedBeside: AgentAddress = { agentName: 'coder', instanceKey: 'beside' };

/** The limits of the budgets, and the number of places. */
export const limits = { calls: 40, tokens: 170, places: 2 };
/** The calls that a node makes at the same time: one more than there are places. */
const AT_ONCE = 3;
/** The groups of calls of a node that does not go on until the budgets are used up. */
const GROUPS = 4;
const MOST_GROUPS = 40;

/**
 * `beginning`: the node has not heard whether the call has begun. `made`: the call reached the provider. `settling`: nobody
 * knows whether the real amount is settled, or the reserved one.
 */
type Fate = 'asked' | 'beginning' | 'made' | 'settling' | 'settled' | 'ended';

export interface CountedCall {
  readonly reserved: number;
  readonly real: number;
  fate: Fate;
}

export type CallsByName = Map<string, CountedCall>;

export interface CallsToMake {
  readonly seed: number;
  /** The number of the node. */
  readonly life: number;
  /** If true, calls are made until the budgets refuse all of a group. */
  readonly isLast: boolean;
  /** Returns false when the lease of the node has ended. Then another node may have settled its calls in full. */
  readonly hasLease: () => boolean;
}

export async function makeCalls(counters: Counters, calls: CallsByName, asked: CallsToMake): Promise<void> {
  const { isLast } = asked;
  for (let group = 0; group < (isLast ? MOST_GROUPS : GROUPS); group += 1) {
    const numbers = Array.from({ length: AT_ONCE }, (_, index) => group * AT_ONCE + index);
    const outcomes = await Promise.all(numbers.map((number) => makeCall(counters, counted, calls, asked, number)));
    if (outcomes.every((outcome) => outcome === 'no budget')) return;
  }
  if (isLast) throw new Error(`${MOST_GROUPS} groups of calls do not use up the budgets`);
}

/** Makes a call with this number, which decides its amounts and its fate. */
export async function makeCall(
  counters: Counters,
  at: AgentAddress,
  calls: CallsByName,
  { seed, life, hasLease }: Omit<CallsToMake, 'isLast'>,
  number: number,
): Promise<'tried' | 'no budget'> {
  const random = seededRandom(seed, life, number);
  const [reserved, real] = [1 + random.below(6), random.below(8)];
  const call: CountedCall = { reserved, real, fate: 'asked' };
  const reservation = { id: `life ${life}, call ${number}`, claims: claimsOf(reserved) };
  calls.set(reservation.id, call);
  const outcome = await counters.reserve(at, reservation);
  if (outcome.status !== 'reserved') {
    call.fate = 'ended';
    return outcome.status === 'refused' && outcome.claim > 0 ? 'no budget' : 'tried';
  }
  // Every fifth call is called off, and the process of another one ends.
  if (random.below(5) === 0) return end(() => counters.release(reservation));
  if (random.below(8) === 0) return end(() => counters.abandon([reservation]));
  call.fate = 'beginning';
  await counters.begin(at, [reservation]);
  call.fate = 'made';
  if (!hasLease()) throw new Error(`${reservation.id} began at a node that has lost its lease`);
  // The process of a call that had begun ends: it counts in full.
  if (random.below(8) === 0) {
    await counters.abandon([reservation]);
    return 'tried';
  }
  call.fate = 'settling';
  await counters.settle(reservation, [1, 1, real]);
  if (hasLease()) call.fate = 'settled';
  return 'tried';

  async function end(ended: () => Promise<void>): Promise<'tried'> {
    await ended();
    call.fate = 'ended';
    return 'tried';
  }
}

/** The place comes first, as for the limits of a model. */
function claimsOf(tokens: number) {
  return [
    { counter: nameOf('places'), window: 'call', amount: 1, limit: limits.places },
    { counter: nameOf('calls'), window: 'ever', amount: 1, limit: limits.calls },
    { counter: nameOf('tokens'), window: 'ever', amount: tokens, limit: limits.tokens },
  ] as const;
}

function nameOf(counter: keyof typeof limits): string {
  return JSON.stringify(['swarm', counter]);
}

/** Checks the counters when no other node has a lease. `isUsedUp`: true if nobody can make another call. */
export async function checkCalls(counters: Counters, calls: CallsByName, isUsedUp: boolean): Promise<void> {
  const all = [...calls.values()];
  const count = (...fates: readonly Fate[]) => all.filter(({ fate }) => fates.includes(fate)).length;
  const made = count('made', 'settling', 'settled');
  if (made > limits.calls) throw new Error(`${made} calls were made, and the budget allows ${limits.calls}`);
  const ranges = { calls: sumOf(all, () => [1, 1]), tokens: sumOf(all, tokensOf), places: [0, 0] } as const;
  const used: Record<string, number> = {};
  for (const [name, [least, most]] of Object.entries(ranges)) {
    const counter = name as keyof typeof limits;
    const window = counter === 'places' ? 'call' : 'ever';
    const asks = { id: 'asks', claims: [{ counter: nameOf(counter), window, amount: 1e6, limit: 0 } as const] };
    const outcome = await counters.reserve(counted, asks);
    if (outcome.status !== 'refused') throw new Error(`a question about ${counter} is ${outcome.status}`);
    used[counter] = outcome.used;
    if (outcome.reserved > 0) throw new Error(`${outcome.reserved} ${counter} are reserved, and nobody runs`);
    if (outcome.used < least || outcome.used > most) {
      throw new Error(`${outcome.used} ${counter} are used, instead of ${least} to ${most}`);
    }
  }
  // The budget of calls loses no more than the calls of which nobody knows whether they began.
  const lost = count('beginning');
  const isFull = (used['calls'] ?? 0) >= limits.calls || (used['tokens'] ?? 0) + 6 > limits.tokens;
  if (isUsedUp && !isFull) throw new Error(`the budgets refuse calls with ${JSON.stringify(used)}`);
  if (isUsedUp && (used['calls'] ?? 0) - made > lost)
    throw new Error(`${used['calls']} calls count, ${made} were made`);
}

/** Returns the least and the most that calls can count. `amounts`: those of a call that was made. */
function sumOf(
  calls: readonly CountedCall[],
  amounts: (call: CountedCall) => readonly [number, number],
): readonly [number, number] {
  let [least, most] = [0, 0];
  for (const call of calls) {
    if (call.fate === 'asked' || call.fate === 'ended') continue;
    const [low, high] = amounts(call);
    least += call.fate === 'beginning' ? 0 : low;
    most += high;
  }
  return [least, most];
}

function tokensOf({ fate, reserved, real }: CountedCall): readonly [number, number] {
  if (fate === 'settled') return [real, real];
  if (fate === 'settling') return [Math.min(reserved, real), Math.max(reserved, real)];
  return [reserved, reserved];
}
