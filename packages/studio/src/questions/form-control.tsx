import type { FormField } from '@goondan/cli/studio';
import { type KeyboardEvent, useId } from 'react';
import { showLines, showText } from '../text/show-text.ts';
import { localTimeOf } from './fill-form.ts';

interface FormControlProps {
  readonly field: FormField;
  /** The name of its control in the form. */
  readonly name: string;
  /** True if the question can no longer be answered. */
  readonly hasEnded: boolean;
}

/** Shows a field with its label and its help, as the control of the browser for its type. */
export function FormControl({ field, name, hasEnded }: FormControlProps) {
  const id = useId();
  const { title, description, isRequired, type } = field;
  const help = description === undefined ? undefined : `${id}-help`;
  const label = (
    <>
      {showText(title)} {isRequired && <span className="quiet">required</span>}
    </>
  );
  const helpText = help !== undefined && (
    <p id={help} className="quiet field-help">
      {showLines(description ?? '')}
    </p>
  );
  if (type === 'choices' || type === 'boolean') {
    return (
      <fieldset className="field" disabled={hasEnded} aria-describedby={help}>
        <legend>{label}</legend>
        {helpText}
        {type === 'boolean' ? <YesOrNo field={field} name={name} /> : <Several field={field} name={name} />}
      </fieldset>
    );
  }
  const shared = { id, name, required: isRequired, disabled: hasEnded, 'aria-describedby': help };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {type === 'choice' ? <Choice field={field} shared={shared} /> : <Written field={field} shared={shared} />}
      {helpText}
    </div>
  );
}

interface Shared {
  readonly id: string;
  readonly name: string;
  readonly required: boolean;
  readonly disabled: boolean;
  readonly 'aria-describedby': string | undefined;
}

function YesOrNo({ field: { isRequired, default: given }, name }: Pick<FormControlProps, 'field' | 'name'>) {
  return (['yes', 'no'] as const).map((word) => (
    <label key={word} className="option">
      <input type="radio" name={name} value={word} required={isRequired} defaultChecked={given === (word === 'yes')} />{' '}
      {word === 'yes' ? 'Yes' : 'No'}
    </label>
  ));
}

function Several({ field: { choices = [], default: given }, name }: Pick<FormControlProps, 'field' | 'name'>) {
  const chosen: readonly unknown[] = Array.isArray(given) ? given : [];
  return choices.map(({ value, title }) => (
    <label key={value} className="option">
      <input type="checkbox" name={name} value={value} defaultChecked={chosen.includes(value)} /> {showText(title)}
    </label>
  ));
}

function Choice({ field, shared }: { readonly field: FormField; readonly shared: Shared }) {
  const { choices = [], default: given } = field;
  return (
    <select {...shared} defaultValue={typeof given === 'string' ? given : ''}>
      {/* Without this choice, a browser chooses the first one, which the person did not. */}
      <option value="">{shared.required ? 'Choose' : 'No answer'}</option>
      {choices.map(({ value, title }) => (
        <option key={value} value={value}>
          {showText(title)}
        </option>
      ))}
    </select>
  );
}

const inputTypes = { email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime-local' };

function Written({ field, shared }: { readonly field: FormField; readonly shared: Shared }) {
  const { type, format, least, most, default: given } = field;
  if (type === 'number' || type === 'integer') {
    const initial = typeof given === 'number' ? given : undefined;
    return (
      <input
        {...shared}
        type="number"
        step={type === 'integer' ? 1 : 'any'}
        min={least}
        max={most}
        defaultValue={initial}
      />
    );
  }
  const initial = typeof given === 'string' ? given : '';
  if (format === undefined)
    return (
      <textarea
        {...shared}
        rows={1}
        minLength={least}
        maxLength={most}
        defaultValue={initial}
        onKeyDown={submitOnEnter}
      />
    );
  return (
    <input
      {...shared}
      type={inputTypes[format]}
      {...(format === 'date-time' && { step: 1 })}
      minLength={least}
      maxLength={most}
      defaultValue={format === 'date-time' ? localTimeOf(initial) : initial}
    />
  );
}

/** Enter sends the form, and Shift-Enter makes a line, as in a message. */
function submitOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}
