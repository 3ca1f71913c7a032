import { expect, test } from 'bun:test';
import { readPersonAnswer } from './person-answer.ts';

test.each(['y', 'Y', 'yes', ' YES '])('%p approves', (text) => {
  expect(readPersonAnswer(text)).toEqual({ isApproved: true });
});

test.each(['', '  ', 'n', 'N', 'no', ' No '])('%p denies without a reason', (text) => {
  expect(readPersonAnswer(text)).toEqual({ isApproved: false });
});

test.each(['nope', 'not now', 'yes, but later', 'only on Monday '])('%p denies, and is the reason', (text) => {
  expect(readPersonAnswer(text)).toEqual({ isApproved: false, note: text.trim() });
});
