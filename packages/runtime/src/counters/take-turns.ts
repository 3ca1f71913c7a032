/**
 * Lets agents take turns: of the agents that wait, the one that was served longest ago is next. An agent that was never
 * served comes first; among those, the one that waits longest. So no agent waits for more than one call of each other
 * agent, however many calls the others have, and a call that needs much is not overtaken for ever by calls that need little.
 */
import { counterLimits } from './claim.ts';
import type { AgentTurn, CounterState } from './counter-state.ts';

/** The time for which a wait counts after its last attempt. Attempts are more frequent. */
export const WAITS_MS = 2_000;
/** The time for which the turn of an agent is remembered that does not wait. */
const REMEMBERED_MS = 600_000;

export function isNext({ turns = {} }: CounterState, agent: string, now: number): boolean {
  const own = turnOf(turns, agent) ?? { servedAt: 0, waitsSince: now };
  return Object.entries(turns).every(
    ([name, turn]) => name === agent || !isWaiting(turn, now) || isBefore(own, turn, now),
  );
}

export function noteWait(state: CounterState, agent: string, now: number): CounterState {
  const turn: AgentTurn = turnOf(state.turns ?? {}, agent) ?? { servedAt: 0 };
  const waitsSince = isWaiting(turn, now) ? (turn.waitsSince ?? now) : now;
  return withTurn(state, agent, { servedAt: turn.servedAt, waitsSince, waitsUntil: now + WAITS_MS }, now);
}

export function noteServed(state: CounterState, agent: string, now: number): CounterState {
  // Later than all others, also if they were served in the same millisecond.
  const last = Math.max(0, ...Object.values(state.turns ?? {}).map((turn) => turn.servedAt));
  return withTurn(state, agent, { servedAt: Math.max(now, last + 1) }, now);
}

function withTurn(state: CounterState, agent: string, turn: AgentTurn, now: number): CounterState {
  const others = Object.entries(state.turns ?? {})
    .filter(([name, each]) => name !== agent && (isWaiting(each, now) || now - each.servedAt < REMEMBERED_MS))
    .slice(-counterLimits.mostAgents);
  return { ...state, turns: Object.fromEntries([...others, [agent, turn]]) };
}

function turnOf(turns: Readonly<Record<string, AgentTurn>>, agent: string): AgentTurn | undefined {
  return Object.hasOwn(turns, agent) ? turns[agent] : undefined;
}

/** A wait that ends far ahead was noted before the clock was set back. */
function isWaiting({ waitsUntil = 0 }: AgentTurn, now: number): boolean {
  return waitsUntil > now && waitsUntil <= now + 2 * WAITS_MS;
}

function isBefore(one: AgentTurn, other: AgentTurn, now: number): boolean {
  if (one.servedAt !== other.servedAt) return one.servedAt < other.servedAt;
  return (one.waitsSince ?? now) <= (other.waitsSince ?? now);
}
