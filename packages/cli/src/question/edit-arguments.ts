/** Lets a person edit the arguments of a tool call, and shows the difference before anything is sent. */
import type { QuestionSummary } from '@goondan/runtime';
import { findReplyProblem } from '@goondan/runtime/control';
import { unifiedDiff } from '@goondan/runtime/internal';
import type { JsonObject } from '@goondan/types';
import { asPlainLines, type DiffLine, diffLines } from '../show-diff.ts';
import type { Asker } from './asker.ts';
import { readJsonObject, writeJson } from './edited-json.ts';
import { showText } from './show-text.ts';

const HINT = 'Edit the arguments. A masked value that you leave alone keeps its real value. An empty text goes back.';
const AGAIN = 'Enter opens the editor again. ';
const UNCHANGED = 'The arguments are as they were.';

/** The arguments to run with; absent if they are those of the question. */
export interface Edit {
  readonly args?: JsonObject;
}

/**
 * Begins with the arguments of `current`, and returns those that fit the schema. Returns `current` if the person goes back,
 * and `undefined` if the person leaves the question open. A wrong text stays in the editor.
 */
export async function editArguments(question: QuestionSummary, current: Edit, asker: Asker): Promise<Edit | undefined> {
  let text = writeJson(current.args ?? question.args);
  asker.show(asPlainLines([HINT]));
  for (;;) {
    const typed = await asker.editText(text, 'Arguments: ');
    if (typed === undefined) return undefined;
    if (typed.trim() === '') return current;
    const read = readEdited(question, typed);
    if ('args' in read) {
      const difference = describeEdit(question.args, read.args);
      asker.show(difference.length === 0 ? asPlainLines([UNCHANGED]) : difference);
      return difference.length === 0 ? {} : read;
    }
    asker.show(asPlainLines([showText(read.problem)]));
    if (asker.hidesProblems === true && (await asker.readLine(AGAIN)) === undefined) return undefined;
    text = typed;
  }
}

/** Returns the edited arguments, or their problem with the path of the field, or the place in the text. */
export function readEdited(
  question: QuestionSummary,
  text: string,
): { readonly args: JsonObject } | { readonly problem: string } {
  const read = readJsonObject(text);
  if ('problem' in read) return read;
  const args = read.value;
  const problem = findReplyProblem({ question }, { id: question.id, by: 'person', decision: 'approved', args });
  return problem === undefined ? { args } : { problem: problem.message };
}

/** Shows what the person changed; returns no lines if that is nothing. */
export function describeEdit(before: JsonObject, after: JsonObject): readonly DiffLine[] {
  return diffLines(unifiedDiff('arguments', `${writeJson(before)}\n`, `${writeJson(after)}\n`));
}
