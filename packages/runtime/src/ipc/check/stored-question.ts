/**
 * Checks questions that were read from a store. The checksum of a line says only that its writer completed it: the writer may have
 * been another program. A record with another shape is left out and reported, and it stays where it is.
 */
import { alwaysScopes, GoondanError } from '@goondan/types';
import { checkPage } from '../../questions/check-page.ts';
import { type QuestionAnswer, questionKinds, type QuestionRecord } from '../../questions/question-record.ts';
import { asking } from './asking.ts';
import {
  type Check,
  date,
  type FieldsOf,
  jsonObject,
  name,
  object,
  oneOf,
  optional,
  ShapeError,
  text,
} from './shape.ts';

/** A record as it is stored, with the id under which it was found. */
export interface StoredValue {
  readonly id: string;
  readonly value: unknown;
}

/** Returns the questions among stored records. `place`: the file or the table, for the report of any other record. */
export function readQuestions(
  stored: readonly StoredValue[],
  place: string,
  report: (problem: GoondanError) => void,
): readonly QuestionRecord[] {
  return stored.flatMap((each) => {
    try {
      return [readQuestion(each)];
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      const message = `The record "${each.id}" in ${place} is not a question: ${error.message}. It is not used, and stays there.`;
      report(new GoondanError('E_QUESTION_RECORD', message));
      return [];
    }
  });
}

function readQuestion({ id, value }: StoredValue): QuestionRecord {
  const found = record(value);
  const { kind } = found;
  if (found.id !== id) throw new ShapeError(`is "${found.id}"`, 'id');
  if (kind === 'form' && found.schema === undefined) throw new ShapeError('is missing', 'schema');
  const problem = kind === 'page' ? checkPage(found.url ?? '') : undefined;
  if (problem !== undefined) throw new ShapeError(`is wrong: ${problem}`, 'url');
  // Safe: all fields were checked.
  return value as QuestionRecord;
}

/** The text of a moment. */
const moment: Check<string> = (value) => {
  date(value);
  return name(value);
};

const answer = object({
  decision: oneOf('approved', 'denied'),
  by: optional(text),
  via: optional(text),
  note: optional(text),
  args: optional(jsonObject),
  content: optional(jsonObject),
  always: optional(oneOf(...alwaysScopes)),
  grant: optional(name),
  decidedAt: moment,
} satisfies FieldsOf<QuestionAnswer>);

const record = object({
  id: name,
  agent: name,
  instanceKey: name,
  eventId: name,
  traceId: name,
  root: optional(object({ connection: name, eventId: name, auth: optional(jsonObject) })),
  key: name,
  toolCallId: name,
  toolName: name,
  kind: oneOf(...questionKinds),
  askedBy: optional(asking),
  reason: text,
  args: jsonObject,
  schema: optional(jsonObject),
  url: optional(text),
  fingerprint: optional(name),
  digest: name,
  askedAt: moment,
  expiresAt: moment,
  answer: optional(answer),
} satisfies FieldsOf<QuestionRecord>);
