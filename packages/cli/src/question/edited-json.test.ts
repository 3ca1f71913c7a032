import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { JsonObject } from '@goondan/types';
import { readJsonObject, writeJson } from './edited-json.ts';

test('what is written is read again as it was, with every hidden character as an escape', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      // Safe: the values are JSON. `-0` is written as `0`.
      const json = JSON.parse(JSON.stringify(value)) as JsonObject;
      expect(readJsonObject(writeJson(json))).toEqual({ value: json });
    }),
    { numRuns: 50 },
  );
  const text = writeJson({ a: 'x\u202ey\u200b\u{e0041}\u00ad\ufe01\n' });
  expect(text).toBe('{\n  "a": "x\\u202ey\\u200b\\udb40\\udc41\\u00ad\\ufe01\\n"\n}');
});

describe('a mistake in JSON', () => {
  test.each([
    ['', 'the text ends too early, at line 1, column 1'],
    ['{\n  "a": 1,\n}', 'unexpected "}", at line 3, column 1'],
    ['{\n  "a": 1\n  "b": 2\n}', 'unexpected "\\"b\\": 2", at line 3, column 3'],
    ['{ "a": yes }', 'unexpected "yes }", at line 1, column 8'],
    ['{ "a": "x }', 'unexpected "\\"x }", at line 1, column 8'],
    ['{ a: 1 }', 'unexpected "a: 1 }", at line 1, column 3'],
    ['{ "a" 1 }', 'unexpected "1 }", at line 1, column 7'],
    ['{ "a": [1, }', 'unexpected "}", at line 1, column 12'],
    ['{ "a": 01 }', 'unexpected "01 }", at line 1, column 8'],
    ['{ "a": 1', 'the text ends too early, at line 1, column 9'],
    ['{} x', 'unexpected "x", at line 1, column 4'],
  ])('is named with its place: %j', (text, problem) => {
    expect(readJsonObject(text)).toEqual({ problem: `This is not JSON: ${problem}.` });
  });

  test('is also a value that is not an object', () => {
    for (const text of ['[]', '1', 'null', '"a"'])
      expect(readJsonObject(text)).toEqual({
        problem: 'This is not a JSON object: it must begin with { and end with }.',
      });
  });
});
