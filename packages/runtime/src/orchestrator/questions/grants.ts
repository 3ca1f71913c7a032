/** Answers that people gave for always: they answer later questions about the same tool of the same conversation. */
import { GoondanError } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import { digestJson } from '../../json/digest-json.ts';
import { isSameJson } from '../../json/same-json.ts';
import type { GrantSummary } from '../../questions/grant-summary.ts';
import type { QuestionRecord } from '../../questions/question-record.ts';
import type { AskFrame } from './asked-question.ts';
import { type Entry, isGrant } from './question-entry.ts';

/** Finds the grant for a question among the entries of its conversation. */
export function findGrant(entries: readonly Entry[], frame: AskFrame): Entry | undefined {
  if (frame.kind !== 'call' || frame.fingerprint === undefined) return undefined;
  return entries.find(({ stage, record }) => stage === 'answered' && allows(record, frame));
}

function allows(record: QuestionRecord, frame: AskFrame): boolean {
  const isSameTool =
    isGrant(record) &&
    record.kind === 'call' &&
    record.toolName === frame.toolName &&
    record.fingerprint === frame.fingerprint &&
    isSameJson(record.askedBy ?? null, frame.askedBy ?? null);
  if (!isSameTool) return false;
  if (record.answer?.always === 'tool') return true;
  // The person may have allowed other arguments than those that were asked about.
  const { args } = record.answer ?? {};
  return digestJson(frame.args) === (args === undefined ? record.digest : digestJson(args));
}

/** Returns a grant for people; `undefined` if the record is none. */
export function grantOf(record: QuestionRecord): GrantSummary | undefined {
  const { id, agent, instanceKey, toolName, askedBy, reason, answer } = record;
  if (!isGrant(record) || answer?.always === undefined) return undefined;
  const { always, by, via, decidedAt } = answer;
  const args = always === 'arguments' ? (answer.args ?? record.args) : undefined;
  return { id, agent, instanceKey, toolName, always, reason, decidedAt, ...defined({ askedBy, args, by, via }) };
}

export function unknownGrant(id: string): GoondanError {
  return new GoondanError('E_QUESTION_UNKNOWN', `Nothing is always allowed under the id "${id}".`);
}
