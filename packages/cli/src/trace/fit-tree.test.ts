import { expect, test } from 'bun:test';
import { createColors } from '../colors.ts';
import { fitTree } from './fit-tree.ts';

const { yellow } = createColors(true);

test('a line that is too wide continues below, in its branches and its colour, complete', () => {
  const tree = ['turn host', `│ │ ${yellow('~ args.text: one → 漢字漢字 and so on')}`, '│ short'].join('\n');
  const fitted = fitTree(tree, 24);
  expect(fitted.split('\n')).toEqual([
    'turn host',
    `│ │ ${yellow('~ args.text: one →')}`,
    `│ │   ${yellow('漢字漢字 and so on')}`,
    '│ short',
  ]);
  for (const line of fitted.split('\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(24);
});

test('a word that is wider than the room is broken, and keeps its indentation', () => {
  expect(fitTree(`│     + ${'x'.repeat(30)}`, 24).split('\n')).toEqual([
    `│     + ${'x'.repeat(14)}`,
    `│       ${'x'.repeat(16)}`,
  ]);
});

test('a line that fits is unchanged, and so is one without any room', () => {
  const deep = `${'│ '.repeat(20)}model Model/main 12 ms`;
  expect(fitTree(deep, 40)).toBe(deep);
  expect(fitTree('│ short', 8)).toBe('│ short');
});
