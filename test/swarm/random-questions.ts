/** Generates random questions between agents, as trees. */
import type { AgentAddress } from '@goondan/types';
import type { Random } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import type { Errand, ErrandStep } from './bundle/run-errand.ts';

/**
 * The reaction of the asked agent: `answer`: asks its own questions, then answers. `sleep`: takes longer than its asker
 * waits. `fail`: its turn fails. `exit`: its process ends while its questions are in progress, and the tool does not
 * run again. `again`: the same as `exit`, but the tool runs again.
 */
export type Nature = 'answer' | 'sleep' | 'fail' | 'exit' | 'again';

export interface Question extends AgentAddress {
  /** A unique name, which begins with the question's nature. */
  readonly name: string;
  readonly nature: Nature;
  /** The time that the asker waits for the answer; the swarm's default when absent. */
  readonly timeoutMs?: number;
  readonly isTogether: boolean;
  /** The questions whose askers wait for this question, outermost first. */
  readonly askers: readonly Question[];
  readonly questions: readonly Question[];
}

export interface Soil {
  readonly random: Random;
  readonly agents: readonly string[];
  readonly keys: readonly string[];
  /** The number of questions that contain this one. */
  readonly depth: number;
}

/** Generates trees until there are at least `least` questions. */
export function growQuestions(soil: Soil, least: number): readonly Question[] {
  let count = 0;
  const roots: Question[] = [];
  while (count < least) roots.push(grow(soil.random.pick(soil.keys), []));
  return roots;

  function grow(callerKey: string, askers: readonly Question[]): Question {
    const { random, agents, keys } = soil;
    const nature = pickNature(random);
    const instanceKey = random.chance(0.8) ? callerKey : random.pick(keys);
    const isWaitedForShortly = nature === 'sleep' || random.chance(0.05);
    const questions: Question[] = [];
    const question: Question = {
      name: `${nature}-${count++}`,
      nature,
      agentName: random.pick(agents),
      instanceKey,
      ...(isWaitedForShortly ? { timeoutMs: 20 + random.below(80) } : {}),
      isTogether: random.chance(0.5),
      askers,
      questions,
    };
    const width = askers.length < soil.depth ? random.below(4) : 0;
    while (questions.length < width) questions.push(grow(instanceKey, [...askers, question]));
    return question;
  }
}

/** Converts a question to an errand. */
export function toErrand({ name, nature, isTogether, questions }: Question): Errand {
  const asks: ErrandStep[] = questions.map((question) => {
    const { agentName: target, instanceKey, timeoutMs } = question;
    return {
      ask: { target, instanceKey, errand: toErrand(question), ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    };
  });
  if (nature === 'exit') return { name, steps: [{ together: [...asks, { exit: 15 }] }] };
  if (nature === 'again') return { name, steps: [{ together: [...asks, { exit: 15, once: true }] }] };
  const steps: ErrandStep[] = isTogether ? [{ together: asks }] : asks;
  return { name, steps: nature === 'sleep' ? [...steps, { sleep: 60_000 }] : steps };
}

export function* allQuestions(questions: readonly Question[]): Generator<Question> {
  for (const question of questions) {
    yield question;
    yield* allQuestions(question.questions);
  }
}

function pickNature(random: Random): Nature {
  const dice = random.below(100);
  if (dice < 78) return 'answer';
  if (dice < 86) return 'sleep';
  if (dice < 94) return 'fail';
  return dice < 97 ? 'exit' : 'again';
}
