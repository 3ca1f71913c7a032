import type { QuestionView } from '@goondan/cli/studio';
import { AnswerBar } from './answer-bar.tsx';
import { controlName, fillForm } from './fill-form.ts';
import { FormControl } from './form-control.tsx';
import type { Answering } from './use-answer.ts';

/** Shows a form. The browser checks the fields before it sends them, and the swarm checks them again. */
export function FormQuestion({
  question: { fields },
  answering,
}: {
  readonly question: QuestionView;
  readonly answering: Answering;
}) {
  const { state, answer, begin } = answering;
  if (fields === undefined)
    return (
      <>
        <p className="bad">This form cannot be shown.</p>
        <AnswerBar kind="form" answering={answering} yes="none" />
      </>
    );
  return (
    <form
      className="question-form"
      onInput={begin}
      onSubmit={(event) => {
        event.preventDefault();
        answer({ decision: 'approved', content: fillForm(fields, new FormData(event.currentTarget)) });
      }}
    >
      {fields.map((field, at) => (
        <FormControl key={field.name} field={field} name={controlName(at)} hasEnded={state === 'ended'} />
      ))}
      <AnswerBar kind="form" answering={answering} yes="submit" />
    </form>
  );
}
