/**
 * Lets a version go on with a state root: it finishes interrupted turns, answers the inputs that wait, and a person approves
 * tool calls and retries dead letters. Returns a description of everything that went wrong.
 */
import { checkAnswers, checkEffects, checkHistory } from './check-root.ts';
import type { Place } from './place.ts';
import { readHistories, type Shown } from './read-root.ts';
import type { Served, Version } from './version.ts';
import { type Written } from './write-root.ts';
import { until } from '../../test/until.ts';

/** `before`: the conversations as the old version has shown them. */
export async function goOn(
  version: Version,
  place: Place,
  stateRoot: string,
  written: Written,
  before: Shown,
): Promise<string[]> {
  const served = await version.serve(stateRoot);
  const problems = [...(await answerQuestions(served, written)), ...(await sendAgain(served, written))];
  place.set('gate', false);
  place.set('poison', false);
  await untilHandled(served);
  const letters = await served.swarm.deadLetters();
  if (letters.length !== written.deadLetters)
    problems.push(`${letters.length} dead letters: ${JSON.stringify(letters)}`);
  for (const { agent, instanceKey, eventId } of letters)
    if (!(await served.swarm.retryDeadLetter({ agent, instanceKey, eventId })))
      problems.push(`${eventId} cannot be retried`);
  await untilHandled(served);
  await served.stop();
  const after = await readHistories(version, stateRoot);
  const retried = letters.map(({ eventId, ...rest }) => ({ ...rest, id: `${eventId}~retry` }));
  return [
    ...problems,
    ...checkHistory(before, after),
    ...checkAnswers([...written.pending, ...retried], after),
    ...checkEffects(place.ledger(), written.questions.length - 1),
  ];
}

/** Denies the first waiting call, and approves the others. */
async function answerQuestions({ swarm }: Served, { questions }: Written): Promise<string[]> {
  await until(async () => (await swarm.questions()).length >= questions.length, { about: 'questions' });
  const asked = await swarm.questions();
  const problems: string[] = [];
  for (const [index, { id, ...rest }] of questions.entries()) {
    const same = asked.find((each) => each.id === id);
    if (JSON.stringify(same) !== JSON.stringify({ id, ...rest }))
      problems.push(`approval ${id}: before ${JSON.stringify(rest)}, after ${JSON.stringify(same)}`);
    const decision = index === 0 ? 'denied' : 'approved';
    await swarm.answer({ id, decision, by: 'ann' }).catch((error: unknown) => {
      problems.push(`question ${id} cannot be answered: ${String(error)}`);
    });
  }
  return asked.length === questions.length ? problems : [...problems, `${asked.length} questions`];
}

/** Sends inputs that were handled or accepted before. None may be accepted as new. */
async function sendAgain({ swarm }: Served, { answered, pending }: Written): Promise<string[]> {
  const problems: string[] = [];
  for (const input of [...answered, ...pending])
    if (!(await swarm.deliver(input)).duplicate) problems.push(`${input.id} was accepted twice`);
  return problems;
}

async function untilHandled({ swarm }: Served): Promise<void> {
  const waiting = async () => (await swarm.status()).instances.filter(({ queued }) => queued > 0);
  try {
    await until(async () => (await waiting()).length === 0, { about: 'all inputs are handled' });
  } catch (error) {
    throw new Error(`Not handled: ${JSON.stringify(await waiting())}`, { cause: error });
  }
}
