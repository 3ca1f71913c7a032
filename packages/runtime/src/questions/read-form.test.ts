import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@goondan/types';
import { checkPage } from './check-page.ts';
import { findContentProblem, readForm } from './read-form.ts';

const of = (properties: object, more: object = {}) => readForm({ type: 'object', properties, ...more });

test('a form has text, choices, numbers, and yes and no', () => {
  const fields = of(
    {
      name: { type: 'string', title: 'Name', description: 'Yours.', maxLength: 9, default: 'ann' },
      size: { type: 'string', enum: ['s', 'l'], enumNames: ['Small', 'Large'] },
      many: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, minItems: 1 },
      count: { type: 'number', minimum: 0, maximum: 1 },
      sure: { type: 'boolean', default: true },
    },
    { required: ['name'] },
  );
  expect(fields).toEqual([
    { name: 'name', title: 'Name', description: 'Yours.', isRequired: true, default: 'ann', type: 'text', most: 9 },
    {
      ...{ name: 'size', title: 'size', isRequired: false, type: 'choice' },
      choices: [
        { value: 's', title: 'Small' },
        { value: 'l', title: 'Large' },
      ],
    },
    {
      name: 'many',
      title: 'many',
      isRequired: false,
      type: 'choices',
      choices: [{ value: 'a', title: 'A' }],
      least: 1,
    },
    { name: 'count', title: 'count', isRequired: false, type: 'number', least: 0, most: 1 },
    { name: 'sure', title: 'sure', isRequired: false, type: 'boolean', default: true },
  ]);
});

test('N-04 an empty text is not an answer to a required field, unless the form says so', () => {
  const fill = (schema: object, required: readonly string[]) => {
    const fields = readForm({ type: 'object', properties: { a: { type: 'string', ...schema } }, required });
    return 'problem' in fields ? fields.problem : findContentProblem(fields, { a: '' });
  };
  expect(fill({}, ['a'])).toBe('a is required, and empty');
  expect([fill({}, []), fill({ minLength: 0 }, ['a'])]).toEqual([undefined, undefined]);
  expect(fill({ minLength: 2 }, ['a'])).toBe('a must have 2 characters or more');
});

test.each<[unknown, string]>([
  [undefined, 'its form is not a JSON Schema'],
  [{ type: 'string' }, 'its form must have type object, and properties'],
  [{ type: 'object', properties: {}, required: ['a'] }, 'its form requires "a", which is not a field'],
  [{ type: 'object', properties: { a: null } }, 'the field "a" of its form is not a schema'],
  [{ type: 'object', properties: { a: { type: 'object' } } }, 'the field "a" of its form must be a text, a choice'],
  [{ type: 'object', properties: { a: { type: 'string', enum: [1] } } }, 'the field "a" of its form has choices that'],
  [
    { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } },
    'the field "a" of its form is a list',
  ],
  [
    { type: 'object', properties: { a: { type: 'string', enum: Array.from({ length: 501 }, (_, n) => `${n}`) } } },
    'the field "a" of its form has choices that',
  ],
  [
    {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`f${n}`, { type: 'boolean' }])),
    },
    'its form has 21 fields',
  ],
  [
    { type: 'object', properties: { a: { type: 'string', title: 'x'.repeat(64_000) } } },
    'its form has more than 64000 bytes',
  ],
])('another schema is no form: %#', (schema, problem) => {
  expect(readForm(schema)).toEqual({ problem: expect.stringContaining(problem) });
});

test.each([
  ['https://example.com/in?state=x', undefined],
  ['http://localhost:8080/in', undefined],
  ['http://127.8.9.1/in', undefined],
  ['http://127.0.0.1/in', undefined],
  ['http://[::1]:1/', undefined],
  ['http://example.com/', 'must begin with https:'],
  ['javascript:alert(1)', 'must begin with https:'],
  ['http://localhost.example.com/', 'must begin with https:'],
  ['http://127.0.0.1.example.com/', 'must begin with https:'],
  ['https://ann:secret@example.com/', 'contains a name or a password'],
  ['https://:secret@example.com/', 'contains a name or a password'],
  ['example.com', 'is not valid'],
  [`https://example.com/${'x'.repeat(8_000)}`, 'more than 8000 characters'],
])('the address of a page is checked: %.40s', (url, problem) => {
  if (problem === undefined) expect(checkPage(url)).toBeUndefined();
  else expect(checkPage(url)).toContain(problem);
});

describe('N-04 a person can tell the choices and the fields of a form apart', () => {
  const read = (field: JsonObject) => readForm({ type: 'object', properties: { a: field } });
  const titled = (...choices: readonly (readonly [value: string, title?: string])[]) =>
    choices.map(([value, title]) => ({ const: value, ...(title !== undefined && { title }) }));
  const titlesOf = (field: JsonObject) => {
    const fields = read(field);
    return 'problem' in fields ? fields.problem : fields[0]?.choices?.map(({ title }) => title);
  };

  test.each([
    ['oneOf', { type: 'string', oneOf: titled(['x', 'Keep'], ['x', 'Delete']) }],
    ['enum', { type: 'string', enum: ['x', 'y', 'x'], enumNames: ['Keep', 'Other', 'Delete'] }],
    ['a list', { type: 'array', items: { anyOf: titled(['x', 'Keep'], ['x']) } }],
  ])('two titles for one value are refused: %s', (_, field) => {
    expect(titlesOf(field)).toBe('the field "a" of its form has the same choice twice');
  });

  test('titles that look alike, or like the value of another choice, are shown with their values', () => {
    const one = (...choices: readonly (readonly [string, string?])[]) =>
      titlesOf({ type: 'string', oneOf: titled(...choices) });
    expect(one(['x', 'Keep'], ['y', 'keep '])).toEqual(['Keep ("x")', 'keep  ("y")']);
    expect(one(['keep', 'Delete'], ['delete', 'Keep'])).toEqual(['Delete ("keep")', 'Keep ("delete")']);
    expect(one(['x', 'Keep'], ['y', 'Ｋｅｅｐ'])).toEqual(['Keep ("x")', 'Ｋｅｅｐ ("y")']);
    expect(one(['a', 'A'], ['b', 'B'], ['c'])).toEqual(['A', 'B', 'c']);
    const odd = one(['x', 'A'], ['y', 'A'], ['z', 'A ("x")'], ['x") ("z', 'A']);
    expect(new Set(odd).size).toBe(4);
  });

  test('fields whose titles look alike are shown with their names', () => {
    const properties = { to: { type: 'string', title: 'Account' }, from: { type: 'string', title: 'account' } };
    const fields = readForm({ type: 'object', properties });
    expect('problem' in fields ? [] : fields.map(({ title }) => title)).toEqual(['Account ("to")', 'account ("from")']);
  });
});
