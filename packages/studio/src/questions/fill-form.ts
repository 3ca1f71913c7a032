import type { AnswerBody, FormField } from '@goondan/cli/studio';

type Content = NonNullable<AnswerBody['content']>;

/** The values of the controls, as a browser collects them. */
export type FormValues = Pick<FormData, 'getAll'>;

/**
 * Returns the name of the control of a field. The names of fields come from outside: a control with the name `nodeName` or
 * `requestSubmit` would hide that property of its form.
 */
export function controlName(at: number): string {
  return `field-${at}`;
}

/** Returns the filled form. A field that the person left empty is left out, unless the form requires it. */
export function fillForm(fields: readonly FormField[], values: FormValues): Content {
  const filled = fields.flatMap((field, at) => {
    const value = valueOf(field, values.getAll(controlName(at)).map(String));
    return value === undefined ? [] : [[field.name, value] as const];
  });
  // A field may have a name such as `__proto__`, which only `fromEntries` takes as a name.
  return Object.fromEntries(filled);
}

function valueOf({ type, format, isRequired }: FormField, texts: readonly string[]): Content[string] | undefined {
  const [text = ''] = texts;
  if (type === 'choices') return texts.length > 0 || isRequired ? [...texts] : undefined;
  if (type === 'text' && format === undefined && isRequired) return text.replaceAll('\r\n', '\n');
  if (text === '') return undefined;
  switch (type) {
    case 'boolean':
      return text === 'yes';
    case 'number':
    case 'integer':
      return Number(text);
    case 'text':
      return format === 'date-time' ? worldTimeOf(text) : text.replaceAll('\r\n', '\n');
    case 'choice':
      return text;
  }
}

/** Returns a moment in the time of the browser, for its control; empty if the text is not a moment. */
export function localTimeOf(moment: string): string {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** Returns the moment of a control in UTC, so that it is the same moment everywhere. */
function worldTimeOf(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? local : date.toISOString();
}
