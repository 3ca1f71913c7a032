import { describe, expect, test } from 'bun:test';
import type { JsonValue } from '@goondan/types';
import { Budget } from './budget.ts';
import { evaluate } from './evaluate.ts';
import { parseQuery } from './parse-query.ts';

const shop = {
  name: 'North',
  'opening hours': { monday: 8, sunday: null },
  items: [
    { name: 'milk', price: 2, tags: ['cold', 'white'] },
    { name: 'bread', price: 4, tags: [] },
    { name: 'honey', price: 9, tags: ['sweet'] },
  ],
  nested: [[1, 2], [3, [4]], 5],
};

function ask(query: string, value: JsonValue = shop, steps = 100_000): JsonValue {
  return evaluate(parseQuery(query), value, new Budget(steps));
}

/** Returns the error of a query. */
function refuse(query: string, value?: JsonValue, steps?: number) {
  try {
    return { result: ask(query, value, steps) };
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { code, message };
  }
}

describe('D-25 json-query selects', () => {
  test.each<[string, JsonValue]>([
    ['name', 'North'],
    ['@.name', 'North'],
    ['"opening hours".monday', 8],
    ['missing.field[0]', null],
    ['items[0].name', 'milk'],
    ['items[-1].name', 'honey'],
    ['items[9]', null],
    ['items[*].price', [2, 4, 9]],
    ['items[].tags[]', ['cold', 'white', 'sweet']],
    ['nested[]', [1, 2, 3, [4], 5]],
    ['items[1:].name', ['bread', 'honey']],
    ['items[::-1].name', ['honey', 'bread', 'milk']],
    ['items[-2:-1].name', ['bread']],
    ['items[?price > `3`].name', ['bread', 'honey']],
    ["items[?name == 'milk' || price == `9`].price", [2, 9]],
    ['items[?!tags].name', ['bread']],
    ["items[?contains(tags, 'cold') && price < `3`] | [0].name", 'milk'],
    [
      'items[*].{n: name, first: tags[0]}',
      [
        { n: 'milk', first: 'cold' },
        { n: 'bread', first: null },
        { n: 'honey', first: 'sweet' },
      ],
    ],
    ['items[0].[name, price]', ['milk', 2]],
    ['missing.[name, price]', null],
    ['missing.{n: name}', null],
    ['"opening hours".*', [8]],
    ['missing || name', 'North'],
    ['!missing && name', 'North'],
    ["name < 'z'", null],
    ['`{"a": null}` == `{"b": null}`', false],
    ['`{"a": 1}` == `{"a": 1, "b": 2}`', false],
    ['`{"a": [1]}` == `{"a": [1]}`', true],
    ["'it\\'s'", "it's"],
    ['`{"a": [1]}`.a[0]', 1],
  ])('%s', (query, expected) => {
    expect(ask(query)).toEqual(expected);
  });
});

describe('D-25 json-query calls functions', () => {
  test.each<[string, JsonValue]>([
    ['abs(`-2`)', 2],
    ['avg(items[*].price)', 5],
    ['avg(`[]`)', null],
    ['ceil(`1.2`)', 2],
    ["contains(name, 'ort')", true],
    ["ends_with(name, 'th')", true],
    ["ends_with(name, 'to the North')", false],
    ["ends_with(name, '')", true],
    ['floor(`1.8`)', 1],
    ["join('-', items[*].name)", 'milk-bread-honey'],
    ['keys(items[0])', ['name', 'price', 'tags']],
    ["length('🙂a')", 2],
    ['length(items)', 3],
    ['length(@)', 4],
    ['map(&price, items)', [2, 4, 9]],
    ['max(items[*].price)', 9],
    ['max_by(items, &price).name', 'honey'],
    ['max_by(items, &`1`).name', 'milk'],
    ['merge(`{"a": 1, "b": 1}`, `{"b": 2}`)', { a: 1, b: 2 }],
    ['min(items[*].name)', 'bread'],
    ['min_by(items, &price).name', 'milk'],
    ['min_by(items, &`1`).name', 'milk'],
    ['not_null(missing, name)', 'North'],
    ["reverse('abc')", 'cba'],
    ['reverse(items[*].price)', [9, 4, 2]],
    ['sort(items[*].name)', ['bread', 'honey', 'milk']],
    ['sort_by(items, &name)[*].price', [4, 9, 2]],
    ["starts_with(name, 'No')", true],
    ['sum(items[*].price)', 15],
    ['to_array(name)', ['North']],
    ["to_number('12.5')", 12.5],
    ["to_number('12 apples')", null],
    ["to_number('')", null],
    ["to_number('012')", null],
    ['to_string(items[0].tags)', '["cold","white"]'],
    ['type(items)', 'array'],
    ['values(items[1])', ['bread', 4, []]],
  ])('%s', (query, expected) => {
    expect(ask(query)).toEqual(expected);
  });
});

describe('D-25 json-query refuses', () => {
  test.each([
    [
      '$.items',
      'A query is JMESPath, not JSONPath: write a.b instead of $.a.b, and @ for the whole value, at character 1.',
    ],
    ['items[?price = 3]', 'Values are compared with ==, at character 14.'],
    ['items[', 'Did not expect the end of the query, at character 7.'],
    ['items[0', 'Did not expect the end of the query, at character 8.'],
    ['items..name', 'Did not expect ., at character 7.'],
    ['name name', 'Did not expect name, at character 6.'],
    ['{a: name', 'Expected } instead of the end of the query, at character 9.'],
    ["name == 'North", "' is not closed, at character 9."],
    ['`North`', "JSON in backticks must be valid JSON; write text as 'text', at character 1."],
    ['items[::0]', 'The step of a slice is not 0, at character 11.'],
    ['count(items)', /^JMESPath has no function count\(\); its functions are abs, avg, .*values\.$/],
    ['constructor(items)', /^JMESPath has no function constructor/],
    ['length()', 'length() takes 1 argument, not 0.'],
    ['length(missing)', 'length() takes a string or a list or an object as argument 1, not null.'],
    ['sum(items[*].name)', 'sum() takes a list of numbers as argument 1, not a list.'],
    ['sort_by(items, price)', 'sort_by() takes &expression as argument 2, not null.'],
    ['sort_by(items, &[name, price][length(name) - 4])', /character/],
    ['sort_by(items, &tags)', '&expression of sort_by() must give only numbers or only strings, not array.'],
    [`${'('.repeat(300)}a`, 'The query is nested more than 200 levels deep, at character 201.'],
  ])('%s', (query, message) => {
    const refused = refuse(query);
    expect(refused).toMatchObject({ code: 'E_QUERY_INVALID' });
    expect(refused.message).toMatch(message);
  });
});

describe('D-25 a query of json-query is bounded', () => {
  const long = 'x'.repeat(50_000);
  const numbers = Array.from({ length: 1_000 }, () => 1);
  test.each<[string, string, JsonValue]>([
    ['a list that doubles', `[@,@]${'|[@,@][]'.repeat(20)}`, 1],
    ['a text that doubles', `@${"|join('',[@,@])".repeat(20)}`, 'ab'],
    ['a comparison of shared parts', `[@,@]${'|[@,@]'.repeat(20)}|@ == @`, 1],
    ['a text of shared parts', `to_string(@${'|[@,@]'.repeat(20)})`, 1],
    [
      'the keys of shared objects',
      `[@,@]${'|[@,@][]'.repeat(12)}|[?@]`,
      Object.fromEntries(Array.from({ length: 26 }, (_, index) => [`key${index}`, 1])),
    ],
    ['the parts of a query, for every item', '[*].[a, b]', Array.from({ length: 40_000 }, () => ({}))],
    ['the sums of a shared list', `[@,@]${'|[@,@][]'.repeat(8)}|[*].sum(a)`, { a: numbers }],
    ['the reverses of a shared list', `[@,@]${'|[@,@][]'.repeat(8)}|[*].reverse(a)`, { a: numbers }],
    ['the texts of shared long keys', `[@,@]${'|[@,@][]'.repeat(8)}|[*].to_string(@)`, { [long.slice(0, 1_000)]: 1 }],
    ['the numbers of shared long texts', `[@,@]${'|[@,@][]'.repeat(8)}|[*].to_number(a)`, { a: long }],
    ['a sort of shared long texts', `[a,b]${'|[@,@][]'.repeat(10)}|sort(@)`, { a: `${long}a`, b: `${long}b` }],
    [
      'a search in shared long texts',
      `[a,b]${'|[@,@][]'.repeat(10)}|[?contains(@, 'z')]`,
      { a: `${long}a`, b: `${long}b` },
    ],
    ['the lengths of shared long texts', `[a,a]${'|[@,@][]'.repeat(5)}|[*].length(@)`, { a: long }],
  ])('%s', (_, query, value) => {
    expect(refuse(query, value)).toEqual({
      code: 'E_QUERY_LIMIT',
      message: 'The query needs more than 100000 steps on this data.',
    });
  });

  test('before a list is flattened', () => {
    const shared = Array.from({ length: 1_000 }, () => numbers);
    const flatten = { type: 'flatten', inner: { type: 'current' } } as const;
    expect(() => evaluate(flatten, shared, new Budget(100_000))).toThrow('more than 100000 steps');
  });

  test('and sees only the fields of the data', () => {
    expect(ask('[__proto__, constructor, items.length, name.length]')).toEqual([null, null, null, null]);
    const made = ask('{__proto__: name}');
    expect(Object.keys(made as object)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
  });
});
