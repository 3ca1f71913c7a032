/**
 * Decides the order in which waiting instances get a process.
 *
 * Invariants:
 * 1. Instances with input from people come before instances with input from agents only. After `PEOPLE_IN_A_ROW` starts
 *    for people, the next start is for an agent's input, if there is any, so that no instance waits forever.
 * 2. Within each of these two groups, the agent with the fewest processes comes first: many waiting instances of one
 *    agent do not delay another agent. Agents with equally many processes are served in the order of arrival.
 * 3. Instances that wait for people come last.
 */

export interface LineDemand {
  /** Keys of waiting instances, in the order of arrival. */
  readonly line: ReadonlySet<string>;
  /** Returns true if the instance waits for people. Absent when no instance waits for people. */
  readonly isHeld?: (key: string) => boolean;
  /** Returns the agent of an instance. Absent when no two instances have the same agent. */
  readonly agentOf?: (key: string) => string;
  /**
   * Returns true if the instance has pending input from a client or a connector; absent when all input is from agents.
   */
  readonly isForPerson?: (key: string) => boolean;
  /** The number of starts for people since the last start for an agent's input. */
  readonly peopleInARow?: number;
}

const PEOPLE_IN_A_ROW = 8;

/** The next instance that gets a process. */
export interface Next {
  readonly key: string;
  readonly agent: string;
  readonly isForPerson: boolean;
}

/**
 * Yields the instances in order. `processes` is the number of processes by agent. Each yielded instance is counted
 * there as a process of its agent.
 */
export function* inFairOrder(demand: LineDemand, processes: Map<string, number>): Generator<Next, undefined> {
  const { people, agents, patient } = groupLine(demand);
  let inARow = demand.peopleInARow ?? 0;
  while (people.size + agents.size > 0) {
    const isForPerson = people.size > 0 && (agents.size === 0 || inARow < PEOPLE_IN_A_ROW);
    inARow = isForPerson ? inARow + 1 : 0;
    yield { ...takeFewest(isForPerson ? people : agents, processes), isForPerson };
  }
  while (patient.size > 0) yield { ...takeFewest(patient, processes), isForPerson: false };
  return undefined;
}

/** The waiting instances of one agent, and how many of them were already yielded. */
interface AgentLine {
  readonly keys: { readonly key: string; readonly place: number }[];
  taken: number;
}

type Group = Map<string, AgentLine>;

function groupLine({ line, isHeld, isForPerson, agentOf = itself }: LineDemand) {
  const groups = { people: new Map(), agents: new Map(), patient: new Map() } satisfies Record<string, Group>;
  let place = 0;
  for (const key of line) {
    const name = isHeld?.(key) === true ? 'patient' : isForPerson?.(key) === true ? 'people' : 'agents';
    const group: Group = groups[name];
    const agent = agentOf(key);
    const known = group.get(agent) ?? { keys: [], taken: 0 };
    known.keys.push({ key, place: place++ });
    group.set(agent, known);
  }
  return groups;
}

function takeFewest(group: Group, processes: Map<string, number>): Omit<Next, 'isForPerson'> {
  let best: { agent: string; own: AgentLine; count: number; place: number; key: string } | undefined;
  for (const [agent, own] of group) {
    const first = own.keys[own.taken];
    if (first === undefined) continue;
    const count = processes.get(agent) ?? 0;
    if (best !== undefined && (count > best.count || (count === best.count && first.place > best.place))) continue;
    best = { agent, own, count, ...first };
  }
  // A group contains an agent only while some of its instances are not yielded yet.
  if (best === undefined) throw new Error('Nobody is in line.');
  const { agent, own, count, key } = best;
  own.taken += 1;
  if (own.taken === own.keys.length) group.delete(agent);
  processes.set(agent, count + 1);
  return { key, agent };
}

export function itself(key: string): string {
  return key;
}
