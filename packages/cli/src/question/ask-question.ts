/**
 * Asks a person one question until the answer is clear. The chat and the commands have the same dialogue, each in its own
 * place.
 */
import type { QuestionSummary } from '@goondan/runtime';
import { type AlwaysScope, alwaysScopesOf, GoondanError } from '@goondan/types';
import { asPlainLines } from '../show-diff.ts';
import type { Asker } from './asker.ts';
import { type Edit, editArguments } from './edit-arguments.ts';
import { fillForm } from './fill-form.ts';
import type { PersonAnswer } from './person-answer.ts';
import { describeUnclear, readAlways, readKey } from './read-key.ts';
import { showText } from './show-text.ts';
import { alwaysPromptOf, EDITED_PROMPT, explainAlways, explainKeys, promptOf } from './wording.ts';

/** Returns `undefined` if the person leaves the question open. `isEditing`: begins with the editor of the arguments. */
export async function askQuestion(
  question: QuestionSummary,
  asker: Asker,
  isEditing = false,
): Promise<PersonAnswer | undefined> {
  if (question.kind === 'form') return fillForm(question, asker);
  let edit: Edit | undefined = isEditing ? await editArguments(question, {}, asker) : {};
  while (edit !== undefined) {
    const typed = await asker.readLine(edit.args === undefined ? promptOf(question) : EDITED_PROMPT);
    if (typed === undefined) return undefined;
    const key = readKey(typed, question.kind);
    switch (key.type) {
      case 'yes':
        return { decision: 'approved', ...edit };
      case 'no':
        return { decision: 'denied', ...(key.note !== undefined && { note: key.note }) };
      case 'always': {
        const always = await askAlways({ ...question, ...edit }, asker);
        if (always === undefined) return undefined;
        if (always !== 'back') return { decision: 'approved', ...edit, always };
        break;
      }
      case 'edit':
        edit = await editOrGoBack(question, edit, asker);
        break;
      case 'unclear':
        asker.show(asPlainLines([describeUnclear(typed), ...explainKeys(question)]));
    }
  }
  return undefined;
}

/** Edits the arguments. If the editor fails, its problem is shown, and the question is asked as before. */
async function editOrGoBack(question: QuestionSummary, current: Edit, asker: Asker): Promise<Edit | undefined> {
  try {
    return await editArguments(question, current, asker);
  } catch (error) {
    if (!GoondanError.is(error)) throw error;
    asker.show(asPlainLines([showText(error.message), ...(error.suggestion === undefined ? [] : [error.suggestion])]));
    return current;
  }
}

/** Returns `undefined` if the person leaves the question open. */
async function askAlways(question: QuestionSummary, asker: Asker): Promise<AlwaysScope | 'back' | undefined> {
  for (;;) {
    asker.show(asPlainLines(explainAlways(question).map((text) => asker.suggest(showText(text)))));
    const typed = await asker.readLine(alwaysPromptOf(question));
    if (typed === undefined) return undefined;
    const always = readAlways(typed, alwaysScopesOf(question));
    if (always !== undefined) return always;
    asker.show(asPlainLines([describeUnclear(typed)]));
  }
}
