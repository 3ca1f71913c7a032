// Tests agents that call each other at random. Some call in circles, and some are too slow, fail or crash. Every
// request ends exactly once.
import { describe, expect, setDefaultTimeout } from 'bun:test';
import type { TurnEnd } from '@goondan/runtime';
import { durableStore } from '@goondan/runtime/history';
import { type AgentAddress, textOf } from '@goondan/types';
import { seededRandom } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import { samples, sampleStep, testInProof } from '../samples.ts';
import { seed } from '../seed.ts';
import type { ErrandEnd, Note, StepEnd } from './bundle/run-errand.ts';
import { allQuestions, growQuestions, type Question, toErrand } from './random-questions.ts';
import { answerOf, startTestSwarm, type TestSwarm, workspace } from './start-test-swarm.ts';
import { until } from '../until.ts';

setDefaultTimeout(120_000);

const agents = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
// Each agent has a process for each key.
const keys = sampleStep === 1 ? ['one', 'two', 'three'] : ['one', 'two'];
const AT_ONCE = 10;
const REQUESTS = samples(500);

/** A note about how a question ended. */
type Ended = StepEnd & { readonly question: string };

describe('random call graphs', () => {
  testInProof(
    `A-03 A-04 A-08 at least ${REQUESTS} requests of ${agents.length} agents under ${keys.length} keys: each ends in exactly one of reply, error, timeout`,
    async () => {
      const roots = growQuestions({ random: seededRandom(seed), agents, keys, depth: 3 }, samples(1_800));
      const planned = new Map([...allQuestions(roots)].map((question) => [question.name, question]));
      await using running = await startTestSwarm({
        agents,
        // This timeout is longer than the test may take, so a request that waits this long was forgotten.
        policy: { requestTimeoutMs: 110_000, restart: { quickCrashes: 10_000 } },
      });
      const ends = await askAll(running, roots);
      await until(async () => (await running.swarm.status()).instances.every(({ queued }) => queued === 0), {
        about: 'everybody is free',
      });
      checkRoots(roots, ends);
      const kinds = checkRequests(running.notes(), planned);
      const requests = Object.values(kinds).reduce((sum, count) => sum + count, 0);
      expect(requests).toBeGreaterThanOrEqual(REQUESTS);
      // If one kind of end never occurred, the test would prove nothing.
      const some = expect.any(Number);
      expect(kinds).toMatchObject({ reply: some, E_AGENT_TIMEOUT: some, E_AGENT_CYCLE: some, E_AGENT_FAILED: some });
      await running.swarm.stop();
      await checkConversations(running, planned);
    },
  );
});

async function askAll({ swarm }: TestSwarm, roots: readonly Question[]): Promise<ReadonlyMap<string, TurnEnd>> {
  const ends = new Map<string, TurnEnd>();
  const left = [...roots];
  const client = async () => {
    for (let root = left.shift(); root !== undefined; root = left.shift()) {
      const { name, agentName: agent, instanceKey, timeoutMs } = root;
      const delivery = { agent, instanceKey, id: name, input: JSON.stringify(toErrand(root)) };
      const signal = timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) };
      ends.set(name, await swarm.ask(delivery, signal));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return ends;
}

function checkRoots(roots: readonly Question[], ends: ReadonlyMap<string, TurnEnd>): void {
  for (const root of roots) {
    const end = ends.get(root.name);
    expect(end).toMatchObject({ agent: root.agentName, instanceKey: root.instanceKey, eventId: root.name });
    if (end?.result.finishReason !== 'error') checkAnswer(root, JSON.parse(end === undefined ? '' : answerOf(end)));
    else if (root.timeoutMs === undefined) {
      expect(root.nature).toBe('fail');
      expect(end.result.error?.code).toBe('E_MODEL_FAILED');
    }
  }
}

/** Counts the requests by the way they ended. Each request must have ended once. */
function checkRequests(notes: readonly Note[], planned: ReadonlyMap<string, Question>): Record<string, number> {
  const kinds: Record<string, number> = {};
  for (const { errand, agentName, instanceKey } of notes.filter(({ what }) => what === 'began')) {
    expect(planned.get(errand)).toMatchObject({ agentName, instanceKey });
  }
  const asked = countByQuestion(notes.filter(({ what }) => what === 'asked'));
  const answered = notes.filter(({ what }) => what === 'answered').map(({ about }) => about as Ended);
  for (const [name, times] of asked) {
    const question = planned.get(name);
    if (question === undefined) throw new Error(`nobody planned ${name}`);
    const asker = question.askers.at(-1)?.nature;
    const ends = answered.filter((each) => each.question === name);
    // When a process ends, the answer is lost. A process that runs again repeats its requests and gets the same
    // answers. There are two exceptions: a request that was refused the first time, and so was not recorded, and a
    // request that timed out the second time.
    expect(times).toBeLessThanOrEqual(asker === 'again' ? 2 : 1);
    expect(ends.length).toBeLessThanOrEqual(times);
    const [end = ends[0], ...more] = ends.filter(
      ({ code = '' }) => !['E_AGENT_DEADLOCK', 'E_CANCELLED'].includes(code),
    );
    for (const again of more) expect(again).toEqual(end ?? again);
    if (asker !== 'exit' && asker !== 'again') expect(end).toBeDefined();
    if (end === undefined) continue;
    const kind = checkEnd(question, end);
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
  return kinds;
}

/** Checks that a request ended with a reply, an error or a timeout, and that this end is possible for the question. */
function checkEnd(question: Question, end: Ended): string {
  const isCycle = question.askers.some((asker) => isSame(asker, question));
  const { askers } = question;
  // The asker's turn may be cancelled, because one of the askers had a short timeout, or because its own asker ended.
  const isGivenUp = askers.some(
    (asker, index) => asker.timeoutMs !== undefined || askers[index - 1]?.nature === 'exit',
  );
  if (end.code === undefined) {
    expect(isCycle).toBe(false);
    checkAnswer(question, end.errand);
    return 'reply';
  }
  if (end.code === 'E_AGENT_TIMEOUT') expect(end.message).toContain(`within ${question.timeoutMs} ms`);
  else if (end.code === 'E_AGENT_CYCLE') expect(isCycle).toBe(true);
  else if (end.code === 'E_AGENT_FAILED') expect(question.nature).toBe('fail');
  else if (end.code === 'E_CANCELLED') expect(isGivenUp).toBe(true);
  else expect(end.code).toBe('E_AGENT_DEADLOCK');
  return end.code;
}

/** Checks that an answer comes from a single instance and belongs to this question. */
function checkAnswer(
  question: Question,
  answer: (Partial<ErrandEnd> & { error?: { code: string } }) | undefined,
): void {
  if (question.nature === 'exit') expect(answer?.error?.code).toBe('E_INTERRUPTED');
  else
    expect(answer).toMatchObject({
      name: question.name,
      agentName: question.agentName,
      instanceKey: question.instanceKey,
    });
}

/** Checks that each instance got all of its own inputs, each once, and no others. */
async function checkConversations({ stateRoot }: TestSwarm, planned: ReadonlyMap<string, Question>): Promise<void> {
  const journal = await durableStore({ stateRoot, workspaceId: workspace });
  const addresses = await journal.instances();
  expect(addresses.length).toBeLessThanOrEqual(agents.length * keys.length);
  for (const address of addresses) {
    const { messages } = await journal.read(address);
    const inputs = messages
      .filter(({ data }) => data.role === 'user')
      .map((message) => JSON.parse(textOf(message)).name);
    expect(new Set(inputs).size).toBe(inputs.length);
    for (const name of inputs) expect(planned.get(name)).toMatchObject(address);
    expect(await journal.pending(address)).toEqual([]);
  }
  await journal.close();
}

function countByQuestion(notes: readonly Note[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { about } of notes) {
    const { question } = about as Ended;
    counts.set(question, (counts.get(question) ?? 0) + 1);
  }
  return counts;
}

function isSame(one: AgentAddress, other: AgentAddress): boolean {
  return one.agentName === other.agentName && one.instanceKey === other.instanceKey;
}
