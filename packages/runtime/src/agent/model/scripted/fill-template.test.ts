import { describe, expect, test } from 'bun:test';
import type { JsonValue } from '@goondan/types';
import fc from 'fast-check';
import { fillObject, fillText, type TemplateValues } from './fill-template.ts';

function values(result?: JsonValue): TemplateValues {
  const groups = { city: 'Seoul', unit: undefined };
  return { groups, input: () => 'hello', ...(result === undefined ? {} : { result }) };
}

const weather = { tempC: 3, sky: { clouds: ['low', { kind: 'high' }] }, note: null, isCold: true };

describe('fillText', () => {
  test.each<[template: string, filled: string]>([
    ['in {{city}}, {{ city }}', 'in Seoul, Seoul'],
    ['{{unit}}{{nobody}}', ''],
    ['You said: {{input}}', 'You said: hello'],
    ['It is {{result.tempC}} degrees.', 'It is 3 degrees.'],
    ['{{result.sky.clouds.0}} {{result.sky.clouds[1].kind}}', 'low high'],
    ['{{result.sky}}', '{"clouds":["low",{"kind":"high"}]}'],
    ['{{result.note}} {{result.isCold}}', 'null true'],
    ['{{result.sky.clouds.9}}{{result.tempC.deeper}}{{result.note.deeper}}', ''],
    ['{{result.constructor}}{{result.__proto__}}{{toString}}{{result.sky.clouds.length}}', ''],
    ['no {placeholder} {{}} {{', 'no {placeholder} {{}} {{'],
  ])('%s', (template, filled) => {
    expect(fillText(template, values(weather))).toBe(filled);
  });

  test('a text result is {{result}} itself', () => {
    expect(fillText('<{{result}}> {{result.length}}{{result.0}}', values('plain'))).toBe('<plain> ');
  });

  test('without a tool result {{result}} is empty', () => {
    expect(fillText('<{{result}}{{result.tempC}}>', values())).toBe('<>');
  });

  test('filled-in text is not read again, neither as a template nor as a replacement pattern', () => {
    expect(fillText('{{result}}', values('{{city}} $& $1'))).toBe('{{city}} $& $1');
  });

  test('{{input}} is computed only when it is used', () => {
    const input = () => {
      throw new Error('looked for');
    };
    expect(fillText('{{city}}', { groups: { city: 'Seoul' }, input })).toBe('Seoul');
  });
});

describe('fillObject', () => {
  test('a string that is one placeholder keeps the type, at any depth', () => {
    const template = {
      n: '{{result.tempC}}',
      list: [{ cold: '{{ result.isCold }}' }, '{{result.note}}', 7],
      c: '{{city}}',
    };
    expect(fillObject(template, values(weather))).toEqual({ n: 3, list: [{ cold: true }, null, 7], c: 'Seoul' });
  });

  test('a placeholder with other text around it becomes text', () => {
    const template = { n: '{{result.tempC}} ', two: '{{result.tempC}}{{result.tempC}}' };
    expect(fillObject(template, values(weather))).toEqual({ n: '3 ', two: '33' });
  });

  test('a missing value is the empty string', () => {
    expect(fillObject({ gone: '{{result.gone}}', unit: '{{unit}}' }, values(weather))).toEqual({ gone: '', unit: '' });
  });

  test('a value taken from a result is a copy', () => {
    const filled = fillObject({ sky: '{{result.sky}}' }, values(weather));
    expect(filled.sky).toEqual(weather.sky);
    expect(filled.sky).not.toBe(weather.sky);
  });
});

describe('for any template and any JSON', () => {
  const path = fc.oneof(
    fc.string(),
    fc
      .array(fc.oneof(fc.constantFrom('0', '1', '[0]', '__proto__', 'constructor', ''), fc.string()))
      .map((keys) => ['result', ...keys].join('.')),
  );
  const result = fc.jsonValue().map((value): JsonValue => JSON.parse(JSON.stringify(value)));

  test('filling never throws, and gives a string', () => {
    fc.assert(
      fc.property(fc.array(path), result, (paths, value) => {
        const template = paths.map((each) => `{{${each}}}`).join(' and ');
        expect(typeof fillText(template, values(value))).toBe('string');
        fillObject({ template, paths: paths.map((each) => `{{${each}}}`) }, values(value));
      }),
    );
  });

  test('every value of a result is found under its own path, with its type', () => {
    const key = fc.stringMatching(/^[A-Za-z_-]{1,8}$/);
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ depthSize: 'small' }, tie('leaf'), fc.array(tie('tree')), fc.dictionary(key, tie('tree'))),
      leaf: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        for (const [where, expected] of walk(JSON.parse(JSON.stringify(value)), 'result')) {
          expect(fillObject({ found: `{{${where}}}` }, values(JSON.parse(JSON.stringify(value)))).found).toEqual(
            expected,
          );
        }
      }),
    );
  });
});

function* walk(value: JsonValue, where: string): Generator<[where: string, value: JsonValue]> {
  yield [where, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inside] of Object.entries(value)) yield* walk(inside, `${where}.${key}`);
}
