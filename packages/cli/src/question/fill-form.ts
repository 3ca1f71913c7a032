/** Asks a person for the fields of a form, one after the other, and checks each at once. */
import type { QuestionSummary } from '@goondan/runtime';
import { type FormField, readForm } from '@goondan/runtime/control';
import type { JsonObject, JsonValue } from '@goondan/types';
import { asPlainLines } from '../show-diff.ts';
import type { Asker } from './asker.ts';
import { describeField, describeValue, promptOfField } from './describe-field.ts';
import type { PersonAnswer } from './person-answer.ts';
import { readField } from './read-field.ts';
import { describeUnclear, readKey } from './read-key.ts';
import { showText } from './show-text.ts';
import { explainKeys, promptOf } from './wording.ts';

const DECLINES = '`/decline` declines, with a reason if you like.';
const BACK = '`/back` goes back to the field before, and ';

/**
 * Returns `undefined` if the person leaves the question open. A form of several fields is shown before it is sent, and so is
 * every form that came while the person typed something else.
 */
export async function fillForm(question: QuestionSummary, asker: Asker): Promise<PersonAnswer | undefined> {
  const fields = readForm(question.schema);
  if ('problem' in fields) return refuseForm(fields.problem, asker);
  asker.show(asPlainLines([`${fields.length < 2 ? '' : BACK}${DECLINES}`]));
  let content: Content = {};
  for (;;) {
    const filled = await fillFields(fields, content, asker);
    if (filled === undefined || 'decision' in filled) return filled;
    content = filled.content;
    const isClear = fields.length < 2 && asker.wasTyping !== true;
    const answer = isClear ? 'yes' : await review(question, fields, content, asker);
    if (answer === 'yes') return { decision: 'approved', content };
    if (answer !== 'edit') return answer;
  }
}

type Content = Readonly<Record<string, JsonValue>>;

/** `given`: the values that Enter keeps. */
async function fillFields(
  fields: readonly FormField[],
  given: Content,
  asker: Asker,
): Promise<{ readonly content: Content } | PersonAnswer | undefined> {
  const content = new Map(Object.entries(given));
  let at = 0;
  for (let field = fields[0]; field !== undefined; field = fields[at]) {
    asker.show(asPlainLines(describeField(field, `${at + 1} of ${fields.length}`)));
    const kept = content.get(field.name) ?? field.default;
    const typed = await asker.readLine(promptOfField(field, kept));
    if (typed === undefined) return undefined;
    const read = readField(field, typed, kept);
    if (read.type === 'declined') return { decision: 'denied', ...(read.note !== undefined && { note: read.note }) };
    if (read.type === 'problem') asker.show(asPlainLines([showText(read.problem)]));
    if (read.type === 'value') content.set(field.name, read.value);
    if (read.type === 'skipped') content.delete(field.name);
    if (read.type === 'value' || read.type === 'skipped') at += 1;
    if (read.type === 'back') at = Math.max(0, at - 1);
  }
  // In the order of the form.
  return { content: Object.fromEntries(fields.flatMap(({ name }) => entryOf(content, name))) };
}

function entryOf(content: ReadonlyMap<string, JsonValue>, name: string): [string, JsonValue][] {
  const value = content.get(name);
  return value === undefined ? [] : [[name, value]];
}

/** Shows the whole answer before it is sent. */
async function review(
  question: QuestionSummary,
  fields: readonly FormField[],
  content: JsonObject,
  asker: Asker,
): Promise<'yes' | 'edit' | PersonAnswer | undefined> {
  asker.show(
    asPlainLines(fields.map((field) => `${showText(field.title)}: ${describeValue(field, content[field.name])}`)),
  );
  for (;;) {
    const typed = await asker.readLine(promptOf(question));
    if (typed === undefined) return undefined;
    const key = readKey(typed, 'form');
    if (key.type === 'yes' || key.type === 'edit') return key.type;
    if (key.type === 'no') return { decision: 'denied', ...(key.note !== undefined && { note: key.note }) };
    asker.show(asPlainLines([describeUnclear(typed), ...explainKeys(question)]));
  }
}

/** A form that cannot be read can only be declined. */
async function refuseForm(problem: string, asker: Asker): Promise<PersonAnswer | undefined> {
  for (;;) {
    asker.show(asPlainLines([`This question cannot be answered: ${showText(problem)}. \`n\` declines it.`]));
    const typed = await asker.readLine('Decline it? [n] ');
    if (typed === undefined) return undefined;
    const key = readKey(typed, 'page');
    if (key.type === 'no') return { decision: 'denied', ...(key.note !== undefined && { note: key.note }) };
  }
}
