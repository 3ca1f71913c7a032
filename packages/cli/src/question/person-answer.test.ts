import { expect, test } from 'bun:test';
import { promptOf, readPersonAnswer } from './person-answer.ts';

test.each(['y', 'Y', 'yes', ' YES '])('%p approves', (text) => {
  expect(readPersonAnswer(text)).toEqual({ isApproved: true });
});

test.each(['', '  ', 'n', 'N', 'no', ' No '])('%p denies without a reason', (text) => {
  expect(readPersonAnswer(text)).toEqual({ isApproved: false });
});

test.each(['nope', 'not now', 'yes, but later', 'only on Monday '])('%p denies, and is the reason', (text) => {
  expect(readPersonAnswer(text)).toEqual({ isApproved: false, note: text.trim() });
});

test('the question says whether a tool call runs or the bundle changes', () => {
  expect(promptOf({ kind: 'call' })).toBe('Let it run? [y/N, or a reason to deny it] ');
  expect(promptOf({ kind: 'change' })).toBe('Change the bundle? [y/N, or a reason to deny it] ');
});
