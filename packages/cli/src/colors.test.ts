import { expect, test } from 'bun:test';
import { createColors } from './colors.ts';

test('a colour begins and ends', () => {
  const { bold, red } = createColors(true);
  expect(bold('a')).toBe('\u001b[1ma\u001b[22m');
  expect(red('a')).toBe('\u001b[31ma\u001b[39m');
});

test('after a colour inside of another one, the outer one goes on', () => {
  const { bold, dim, red, green } = createColors(true);
  expect(red(`a${green('b')}c`)).toBe('\u001b[31ma\u001b[32mb\u001b[39m\u001b[31mc\u001b[39m');
  expect(bold(`a${dim('b')}c`)).toBe('\u001b[1ma\u001b[2mb\u001b[22m\u001b[1mc\u001b[22m');
});

test('without colours, texts stay as they are', () => {
  for (const paint of Object.values(createColors(false))) expect(paint('a')).toBe('a');
});
