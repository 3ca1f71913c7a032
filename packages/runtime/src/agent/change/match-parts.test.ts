import { expect, test } from 'bun:test';
import { extension } from '../../testing/index.ts';
import { matchParts } from './match-parts.ts';

test('L-01 a part is retained once, wherever it stands, and only with the same code', () => {
  const declaration = extension('a', () => undefined);
  const running = [{ declaration: extension('b', () => undefined) }, { declaration }];
  expect(matchParts(running, [declaration, declaration])).toEqual([running[1], undefined]);
  expect(matchParts(running, [extension('a', () => undefined)])).toEqual([undefined]);
});
