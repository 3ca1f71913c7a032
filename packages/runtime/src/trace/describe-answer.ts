import { describeDuration } from './describe-duration.ts';
import { nameDoor, nameVerdict } from './name-answer.ts';
import { writeOut } from './show-value.ts';
import type { GivenAnswer, LayerRecord } from './turn-trace.ts';

/** Describes how long a part of a chain waited for people, and their answers; `undefined` if it asked nobody. */
export function describeWait({
  waitedMs,
  answers = [],
}: Pick<LayerRecord, 'waitedMs' | 'answers'>): string | undefined {
  if (waitedMs === undefined) return undefined;
  // Names come from clients of the swarm.
  const words = answers.map((answer) => writeOut(describeAnswer(answer)));
  // Nobody was asked about a call that is always allowed.
  if (answers.length > 0 && answers.every(({ grant }) => grant !== undefined)) return words.join(', ');
  return `waited for a person ${[describeDuration(waitedMs), ...words].join(', ')}`;
}

/** Describes the answer of a person, as in `approved by ann via chat`. */
export function describeAnswer(answer: GivenAnswer): string {
  const { kind, decision, args, question, grant, afterMs } = answer;
  const who = nameDoor(answer);
  if (grant !== undefined) return `always allowed${who} (${grant})`;
  const after = afterMs === undefined ? '' : ` after ${describeDuration(afterMs)}`;
  const verdict = `${nameVerdict(kind, decision)}${who}${after}`;
  if (args === undefined) return verdict;
  const where = question === undefined ? '' : ` (${question})`;
  return `${verdict} with other arguments${where}: ${JSON.stringify(args)}`;
}
