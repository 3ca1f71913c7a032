/**
 * Lets the old version write a state root: finished turns, several archive files, forks, fresh starts, dead letters, tool
 * calls that wait for approval, interrupted turns and waiting inputs. Its processes are killed meanwhile.
 */
import type { Delivery, Swarm } from '@goondan/runtime';
import type { Place } from './place.ts';
import type { Served, Version } from './version.ts';
import { until } from '../../test/until.ts';

export type Input = Required<Pick<Delivery, 'agent' | 'instanceKey' | 'id' | 'input'>>;

export interface Written {
  /** The inputs that are accepted and not answered. */
  readonly pending: readonly Input[];
  /** Some inputs that are answered. */
  readonly answered: readonly Input[];
  readonly questions: Awaited<ReturnType<Swarm['questions']>>;
  readonly deadLetters: number;
  readonly kills: { readonly agents: number; readonly orchestrators: number };
}

const AT_ONCE = 8;
const WRITES = 36;
const LONG_CONVERSATIONS = 3;

/** `count`: the number of conversations with finished turns; the others come in addition. */
export async function writeRoot(
  old: Version,
  place: Place,
  stateRoot: string,
  count: number,
  report: (line: string) => void,
): Promise<Written> {
  const kills = { agents: 0, orchestrators: 0 };
  const inputs = finishedInputs(count);
  place.set('poison', true);
  let serving = old.serve(stateRoot);
  report(`${inputs.length} turns in ${count} conversations`);
  let turns = 0;
  await inOrder(inputs, async (input) => {
    await untilAnswered(async () => (await serving).swarm.ask(input));
    turns += 1;
    if (turns % Math.floor(inputs.length / 3) === 0) {
      const before = await serving;
      kills.orchestrators += 1;
      serving = before.kill().then(() => old.serve(stateRoot));
    } else if (turns % 20 === 0 && (await killWorking(await serving))) kills.agents += 1;
  });
  const served = await serving;

  report(`${LONG_CONVERSATIONS} conversations with several archive files`);
  const long = times(LONG_CONVERSATIONS, (each) => list('clerk', `long-${each}`, 'write', WRITES));
  await inOrder(long.flat(), async (input) => void (await served.swarm.ask(input)));

  report('forks, fresh starts, dead letters and questions');
  for (let each = 0; each < 10; each++) {
    const from = { agent: 'worker', instanceKey: `worker-${each}` };
    await served.swarm.forkInstance({ ...from, as: `fork-${each}`, ...(each % 2 ? {} : { at: 4 }) });
    await served.swarm.restart({ agent: 'clerk', instanceKey: `clerk-${each}`, fresh: true });
  }
  const after = times(5, (each) => [
    one('worker', `fork-${each}`, 'work', 'after'),
    one('clerk', `clerk-${each}`, 'work', 'fresh'),
  ]);
  await inOrder(after.flat(), async (input) => void (await served.swarm.ask(input)));
  const poison = times(8, (each) => one('worker', `worker-${each + 10}`, 'crash', 'poison'));
  for (const input of poison) await served.swarm.deliver(input);
  await until(async () => (await served.swarm.deadLetters()).length === poison.length, { about: 'dead letters' });

  const pending = await interruptTurns(served, place, kills);
  const questions = await served.swarm.questions();
  // The swarm is killed as soon as the last of these inputs is acknowledged.
  const unread = times(20, (each) => one('worker', `unread-${each}`, 'work', 'pending'));
  await Promise.all(unread.map((input) => served.swarm.deliver(input)));
  await served.kill();
  kills.orchestrators += 1;
  const answered = inputs.filter(({ agent }, index) => agent !== 'clerk' && index % 5 === 0);
  return { pending: [...pending, ...unread], answered, questions, deadLetters: poison.length, kills };
}

/** Asks again, with the same id, after the orchestrator was killed. */
async function untilAnswered(ask: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await Bun.sleep(50);
    }
  }
}

/** Kills an agent in its turn. Returns false when none is working. */
async function killWorking({ swarm }: Served): Promise<boolean> {
  const { instances } = await swarm.status().catch(() => ({ instances: [] }));
  const pid = instances.find((each) => each.status === 'working')?.pid;
  return pid !== undefined && tryKill(pid);
}

function tryKill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}

/** Starts turns that do not end, queues inputs behind them, and kills some of their processes. */
async function interruptTurns(served: Served, place: Place, kills: { agents: number }): Promise<Input[]> {
  place.set('gate', true);
  const buys = times(12, (each) => one('buyer', `buyer-${each}`, 'buy', 'pending'));
  const slow = times(10, (each) => one('worker', `worker-${each + 20}`, 'slow', 'pending'));
  const again = times(8, (each) => one('worker', `worker-${each + 30}`, 'again', 'pending'));
  const asks = times(4, (each) => one('boss', `boss-${each}`, 'ask', 'pending'));
  for (const input of [...buys, ...slow, ...again, ...asks]) await served.swarm.deliver(input);
  const begun = (tool: string) =>
    place.ledger().filter(({ tool: used, moment }) => used === tool && moment === 'begun').length;
  await until(async () => (await served.swarm.questions()).length === buys.length, { about: 'questions' });
  await until(async () => begun('slow') === slow.length, { about: 'slow turns' });
  await until(async () => begun('again') === again.length + asks.length, { about: 'repeatable turns' });

  const queued = [...slow, ...again, ...buys].flatMap(({ agent, instanceKey }) =>
    [1, 2].map((number) => one(agent, instanceKey, 'work', `queued-${number}`)),
  );
  for (const input of queued) await served.swarm.deliver(input);
  const victims = new Set(again.slice(0, 4).map(({ instanceKey }) => instanceKey));
  const { instances } = await served.swarm.status();
  const targets = instances.filter(({ instanceKey }) => victims.has(instanceKey));
  const killed = targets.filter(({ pid }) => pid !== undefined && tryKill(pid)).length;
  kills.agents += killed;
  await until(async () => begun('again') === again.length + asks.length + killed, { about: 'resumed turns' });
  return [...buys, ...slow, ...again, ...asks, ...queued];
}

function times<Made>(length: number, make: (each: number) => Made): Made[] {
  return Array.from({ length }, (_, each) => make(each));
}

function finishedInputs(count: number): Input[] {
  const agents = ['worker', 'clerk', 'buyer'];
  return times(count, (each) => {
    const agent = agents[each % agents.length] ?? '';
    return list(agent, `${agent}-${Math.floor(each / agents.length)}`, 'work', agent === 'clerk' ? 5 : 2);
  }).flat();
}

function list(agent: string, instanceKey: string, verb: string, length: number): Input[] {
  return times(length, (each) => one(agent, instanceKey, verb, String(each)));
}

function one(agent: string, instanceKey: string, verb: string, name: string): Input {
  const job = `${agent}.${instanceKey}.${verb}.${name}`;
  return { agent, instanceKey, id: job, input: `${verb} ${job}` };
}

/** Handles the inputs of each conversation in order, and of a few conversations at the same time. */
async function inOrder(inputs: readonly Input[], work: (input: Input) => Promise<void>): Promise<void> {
  const conversations = [...Map.groupBy(inputs, ({ agent, instanceKey }) => `${agent} ${instanceKey}`).values()];
  const next = async (): Promise<void> => {
    for (let own = conversations.shift(); own !== undefined; own = conversations.shift())
      for (const input of own) await work(input);
  };
  await Promise.all(times(AT_ONCE, next));
}
