import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { anyText } from '../../../../../test/any-text.ts';
import { toProviderName } from './provider-tool-name.ts';

test.each([
  ['weather__get', 'weather__get'],
  ['a', 'a'],
  ['team.Writer__get', 'team_Writer__get-bef4d333'],
  ['weather: get', 'weather__get-87039a4b'],
  ['a/b', 'a_b-c14cddc0'],
  ['a b', 'a_b-c8687a08'],
  ['7zip', '_7zip-98fa304e'],
  ['-x', '_-x-a4209624'],
  ['x'.repeat(64), 'x'.repeat(64)],
  ['날씨', '__-fe655cf1'],
  ['x'.repeat(65), `${'x'.repeat(55)}-9537c5fd`],
])('providers get the tool %s as %s', (name, providerName) => {
  expect(toProviderName(name)).toBe(providerName);
});

test('providers accept every name that they get, and the name of a name is that name', () => {
  fc.assert(
    fc.property(anyText(), (name) => {
      const providerName = toProviderName(name);
      expect(providerName).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
      expect(toProviderName(providerName)).toBe(providerName);
    }),
    { examples: [['x'.repeat(65)], ['😀'.repeat(64)], ['\ud800'], ['']] },
  );
});
