import { describe, expect, test } from 'bun:test';
import { alwaysScopes } from '@goondan/types';
import fc from 'fast-check';
import { readAlways, readKey } from './read-key.ts';

const kinds = ['call', 'change', 'budget', 'form', 'page'] as const;

describe('at a question', () => {
  test.each(['y', 'Y', 'yes', ' YES '])('%p is yes', (text) => {
    for (const kind of kinds) expect(readKey(text, kind)).toEqual({ type: 'yes' });
  });

  test.each(['n', 'N', 'no', ' No ', 'n ', 'no.'])('%p is no without a reason', (text) => {
    for (const kind of kinds) expect(readKey(text, kind)).toEqual({ type: 'no' });
  });

  test.each(['n not on Friday', 'no, not on Friday', 'N: not on Friday '])('%p is no with a reason', (text) => {
    expect(readKey(text, 'call')).toEqual({ type: 'no', note: 'not on Friday' });
  });

  test('e and a are keys of a tool call only, and e also of a form', () => {
    const typesOf = (text: string) => kinds.map((kind) => readKey(text, kind).type);
    expect(typesOf('e')).toEqual(['edit', 'unclear', 'unclear', 'edit', 'unclear']);
    expect(typesOf(' Always ')).toEqual(['always', 'unclear', 'unclear', 'unclear', 'unclear']);
  });

  test('Enter alone, and every text that is not a key, is neither yes nor no', () => {
    const unclear = [
      '',
      '  ',
      '?',
      'yes, but later',
      'ye',
      'yy',
      'y n',
      'nope',
      'not now',
      'ok',
      'sure',
      'j',
      'edit it',
    ];
    for (const text of unclear) for (const kind of kinds) expect(readKey(text, kind)).toEqual({ type: 'unclear' });
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...kinds), (text, kind) => {
        if (!['y', 'yes'].includes(text.trim().toLowerCase())) expect(readKey(text, kind).type).not.toBe('yes');
      }),
      { numRuns: 200 },
    );
  });

  test('always is for one of the choices, Enter goes back, and nothing else counts', () => {
    const read = (text: string) => readAlways(text, ['arguments', 'tool']);
    expect(['t', ' Tool', 'a', 'arguments', ''].map(read)).toEqual(['tool', 'tool', 'arguments', 'arguments', 'back']);
    for (const text of ['y', 'n', 'all', 'h', 'host']) expect(read(text)).toBeUndefined();
    expect(['h', 'HOST'].map((text) => readAlways(text, alwaysScopes))).toEqual(['host', 'host']);
  });
});
