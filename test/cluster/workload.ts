/**
 * Work for a swarm that is disturbed meanwhile. Each client has a conversation of its own and sends one input after the
 * other, always to another node. An input is repeated with the same id until it is answered, as a careful client does.
 */
import type { Swarm } from '@goondan/runtime';
import { type Outcome, compareTranscripts } from './read-outcome.ts';
import { describeEnd } from './scenarios.ts';
import { type Cluster, readEffects } from './start-cluster.ts';

export interface WorkResult {
  /** The answers, by the id of the event. */
  readonly answers: ReadonlyMap<string, string>;
  /** How often an input had to be sent again. */
  readonly repeats: number;
  /** The longest time from an input to its answer. */
  readonly longestMs: number;
}

const CLIENTS = [
  { agent: 'worker', verb: 'steps' },
  { agent: 'boss', verb: 'ask' },
  { agent: 'counter', verb: 'again' },
  { agent: 'worker', verb: 'once' },
] as const;

export const INPUTS = CLIENTS.length * 2;
const ANSWER_LIMIT_MS = 120_000;

/** Runs the work of one round. All its names begin with `round`, which has no dash. */
export async function work(cluster: Cluster, round: string): Promise<WorkResult> {
  const answers = new Map<string, string>();
  let [repeats, longestMs] = [0, 0];
  await Promise.all(
    CLIENTS.map(async ({ agent, verb }, client) => {
      for (let count = 0; count < 2; count++) {
        const job = `${round}-${client}-${count}`;
        const delivery = { agent, instanceKey: `${round}-${client}`, id: job, input: `${verb} ${job}` };
        const startedAt = performance.now();
        const end = await askUntilAnswered(cluster, client + count, (swarm) => swarm.ask(delivery));
        longestMs = Math.max(longestMs, performance.now() - startedAt);
        repeats += end.repeats;
        answers.set(job, describeEnd(end.answer));
      }
    }),
  );
  return { answers, repeats, longestMs };
}

/** Asks one node after the other until one of them answers. */
async function askUntilAnswered<Answer>(cluster: Cluster, first: number, ask: (swarm: Swarm) => Promise<Answer>) {
  const deadline = performance.now() + ANSWER_LIMIT_MS;
  for (let repeats = 0; ; repeats++) {
    try {
      return { answer: await within(ask(cluster.at(first + repeats)), deadline), repeats };
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await Bun.sleep(50);
    }
  }
}

/** Rejects at the deadline, so that a lost answer ends the proof instead of hanging it. */
async function within<Value>(promise: Promise<Value>, deadline: number): Promise<Value> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('An input was not answered in time.')), deadline - performance.now());
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

export interface WorkCheck {
  readonly problems: readonly string[];
  /** The number of events that were never answered, and of effects that happened twice. */
  readonly lost: number;
  readonly twice: number;
}

/** Compares the round with the undisturbed one. Only a call that may be repeated may have happened twice. */
export function checkWork(
  cluster: Pick<Cluster, 'work'>,
  round: string,
  found: { readonly result: WorkResult; readonly outcome: Outcome },
  undisturbed: { readonly round: string; readonly outcome: Outcome },
): WorkCheck {
  const problems: string[] = [];
  const wrong = [...found.result.answers].filter(
    ([, answer]) => !/^text_response: (Done\.|The last answer is: Done\.)$/.test(answer),
  );
  problems.push(...wrong.map(([id, answer]) => `${id} was answered with ${answer}`));
  const lost = INPUTS - found.result.answers.size;
  if (lost > 0) problems.push(`${lost} events of ${round} were not answered`);
  const effects = [...readEffects(cluster)].filter(([job]) => job.startsWith(`${round}-`));
  const twice = effects.filter(([job, { begun, ended }]) => isOnce(job) && (begun > 1 || ended > 1));
  problems.push(
    ...twice.map(([job, { begun, ended }]) => `the effect ${job} began ${begun} times, ended ${ended} times`),
  );
  // The names differ only in the round.
  const renamed: unknown = JSON.parse(
    JSON.stringify(undisturbed.outcome).replaceAll(`${undisturbed.round}-`, `${round}-`),
  );
  problems.push(...compareTranscripts(renamed as Outcome, found.outcome));
  for (const [name, { pending, deadLetters }] of Object.entries(found.outcome.conversations))
    if (pending + deadLetters > 0) problems.push(`${name}: ${pending} pending events, ${deadLetters} dead letters`);
  return { problems, lost, twice: twice.length };
}

/** The second call of `steps` and the only one of `once` may not be repeated. */
function isOnce(job: string): boolean {
  return job.endsWith('-2') || /^[^-]+-3-\d$/.test(job);
}
