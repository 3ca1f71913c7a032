/** The words about a question. Texts from outside are shown with every character visible. */
import {
  describeAlways,
  describeWhere,
  type GrantSummary,
  hostOf,
  nameSubject,
  type QuestionView,
} from '@goondan/cli/studio';
import { showText } from '../text/show-text.ts';

/** Names the thing that waits for a person, at the beginning of a sentence. */
export function subjectOf({ kind, toolName }: Pick<QuestionView, 'kind' | 'toolName'>): string {
  return kind === 'call' ? showText(toolName) : nameSubject({ kind });
}

/** Names what a conversation waits for, as in `waits for you: a budget`; `undefined` if it does not wait. */
export function describeWaiting(
  questions: readonly Pick<QuestionView, 'kind'>[],
  running: { readonly limit?: string } | undefined,
): string | undefined {
  const [first] = questions;
  if (first !== undefined) return first.kind === 'budget' ? 'you: a budget' : 'you';
  return running?.limit === undefined ? undefined : `a rate limit: ${showText(running.limit)}`;
}

/** Names the part that asks on behalf of the agent; `undefined` if the runtime or a tool of the bundle asks. */
export function askerOf({ askedBy = {} }: Pick<QuestionView, 'askedBy'>): string | undefined {
  const { extension, server } = askedBy;
  const parts = [
    ...(server === undefined ? [] : [`server ${showText(server)}`]),
    ...(extension === undefined ? [] : [`extension ${showText(extension)}`]),
  ];
  return parts.length === 0 ? undefined : `asked by ${parts.join(', ')}`;
}

/** Says exactly for which calls nobody is asked any more. */
export function describeCover(
  question: Pick<QuestionView, 'agent' | 'instanceKey' | 'toolName' | 'args' | 'schema'>,
  always: GrantSummary['always'],
  isEdited: boolean,
): string {
  const calls = describeAlways(always, question.toolName, hostOf(question));
  const which = isEdited ? calls.replace('exactly these', 'exactly the edited') : calls;
  return showText(`Always, ${describeWhere(question)}, without a question: ${which}. A changed tool asks again.`);
}

/** Names the person, and the door through which their answer came, as in `by alice via studio`. */
export function describePerson({ by, via }: Pick<GrantSummary, 'by' | 'via'>): string {
  return showText([...(by === undefined ? [] : [`by ${by}`]), ...(via === undefined ? [] : [`via ${via}`])].join(' '));
}
