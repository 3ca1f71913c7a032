import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { checkToolName } from './tool-name.ts';

describe('the name of a declared tool', () => {
  test.each([
    'weather__get',
    'my-ext__status',
    'tool-search__search',
    'mcp-github__create_issue',
    'A1__B2',
    'a_b__c_d',
    'team.Writer__get',
    `${'a'.repeat(31)}__${'b'.repeat(31)}`,
  ])('X-09 %s is {resource}__{export}', (name) => {
    expect(checkToolName(name, 'declared')).toBe(name);
  });

  test.each([
    'weather',
    'weather_get',
    '__get',
    'weather__',
    '__',
    'a__b__c',
    'a___b',
    'wetter__größe',
    'weather__get now',
    'weather__get.x',
    'a..b__c',
    '.a__b',
    'a.__b',
    'weather__get\n',
    '',
    `${'a'.repeat(31)}__${'b'.repeat(32)}`,
    undefined,
    null,
    7,
    { name: 'weather__get' },
  ])('X-09 %p is not a tool name', (name) => {
    expect(() => checkToolName(name, 'declared')).toThrow(expect.objectContaining({ code: 'E_TOOL_NAME' }));
  });

  test('X-09 the error shows the name and the required form', () => {
    expect(() => checkToolName('getWeather', 'declared')).toThrow(
      '"getWeather" is not a tool name: it must be {resource}__{export}',
    );
  });

  test('X-09 an accepted name has exactly one double underscore, and no character that needs a hash for providers', () => {
    const character = fc.constantFrom(...Array.from('abAB09-_. é'));
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 70 }), (name) => {
        const accepted = isAccepted(name);
        if (accepted) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
        if (accepted) expect(name.split('__')).toHaveLength(2);
      }),
      { examples: [['a__b'], ['a___b'], ['a__b__c']] },
    );
  });

  test('X-09 every resource and export name that a bundle allows gives a valid tool name', () => {
    const letters = Array.from('abcdefghijklmnopqrstuvwxyz');
    const others = Array.from('ABYZ0123456789-');
    const resource = fc
      .tuple(fc.constantFrom(...letters), fc.string({ unit: fc.constantFrom(...letters, ...others), maxLength: 29 }))
      .map((parts) => parts.join(''));
    const exported = fc.string({ unit: fc.constantFrom(...letters, ...others), minLength: 1, maxLength: 30 });
    fc.assert(fc.property(resource, exported, (left, right) => isAccepted(`${left}__${right}`)));
  });
});

describe('the name of a tool that an extension registers', () => {
  test.each([
    'weather__get',
    'mcp-github__issues.list/all',
    'a__b__c',
    '날씨__지금',
    'a b__\n',
    `mcp__${'x'.repeat(251)}`,
  ])('X-09 %p has two parts with __ between them', (name) => {
    expect(checkToolName(name, 'registered')).toBe(name);
  });

  test.each(['weather', 'weather_get', '__get', 'weather__', '__', '', undefined, 7, `mcp__${'x'.repeat(252)}`])(
    'X-09 %p is refused',
    (name) => {
      expect(() => checkToolName(name, 'registered')).toThrow(
        expect.objectContaining({
          code: 'E_TOOL_NAME',
          message: expect.stringContaining('must be {resource}__{export}, with at most 256 characters.'),
        }),
      );
    },
  );
});

function isAccepted(name: string): boolean {
  try {
    return checkToolName(name, 'declared') === name;
  } catch {
    return false;
  }
}
