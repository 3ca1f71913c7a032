import { expect, test } from 'bun:test';
import { maskSecrets } from '../log/mask-secrets.ts';
import { nameText } from './turn-place.ts';

test('a name is masked before it is cut, so that no part of a secret at the limit is exported', () => {
  const mask = maskSecrets(['swordfish-swordfish']);
  const before = 'x'.repeat(190);
  expect(nameText(`${before}swordfish-swordfish and more`, mask)).toBe(`${before}*** and mo`);
});
