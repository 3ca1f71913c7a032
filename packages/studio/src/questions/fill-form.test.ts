import { expect, test } from 'bun:test';
import type { FormField } from '@goondan/cli/studio';
import { controlName, fillForm, localTimeOf } from './fill-form.ts';

const field = (name: string, type: FormField['type'], more: Partial<FormField> = {}): FormField => ({
  name,
  title: name,
  type,
  isRequired: false,
  ...more,
});

const values = (given: readonly (readonly [string, string])[]) => {
  const data = new FormData();
  for (const [name, value] of given) {
    const at = fields.findIndex((each) => each.name === name);
    data.append(at < 0 ? name : controlName(at), value);
  }
  return data;
};

const fields = [
  field('text', 'text'),
  field('when', 'text', { format: 'date-time' }),
  field('one', 'choice'),
  field('some', 'choices'),
  field('number', 'number'),
  field('whole', 'integer'),
  field('sure', 'boolean'),
  field('__proto__', 'text'),
];

test('a filled form has the types of its fields', () => {
  const given = [
    ['text', 'two\r\nlines'],
    ['when', '2026-01-31T12:00:00'],
    ['one', 'a'],
    ['some', 'a'],
    ['some', 'b'],
    ['number', '-1.5'],
    ['whole', '0'],
    ['sure', 'no'],
    ['__proto__', 'p'],
    ['stranger', 'x'],
  ] as const;
  const filled = fillForm(fields, values(given));
  expect(Object.entries(filled)).toEqual([
    ['text', 'two\nlines'],
    ['when', new Date('2026-01-31T12:00:00').toISOString()],
    ['one', 'a'],
    ['some', ['a', 'b']],
    ['number', -1.5],
    ['whole', 0],
    ['sure', false],
    ['__proto__', 'p'],
  ]);
});

test('a field that the person left empty is not answered; a required text and list may be empty', () => {
  const empty = values(fields.map(({ name }) => [name, ''] as const).filter(([name]) => name !== 'some'));
  expect(fillForm(fields, empty)).toEqual({});
  const required = fields.map((each) => ({ ...each, isRequired: true }));
  expect(Object.entries(fillForm(required, empty))).toEqual([
    ['text', ''],
    ['some', []],
    ['__proto__', ''],
  ]);
});

test('a moment is shown in the time of the browser, and is the same moment again', () => {
  const moment = '2026-07-01T23:59:01.000Z';
  const shown = localTimeOf(moment);
  expect(shown).toMatch(/^2026-07-0[12]T\d\d:\d\d:01$/);
  expect(fillForm(fields, values([['when', shown]]))).toEqual({ when: moment });
  expect(localTimeOf('soon')).toBe('');
});
