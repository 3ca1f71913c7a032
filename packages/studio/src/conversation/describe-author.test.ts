import { expect, test } from 'bun:test';
import { describeAuthor } from './describe-author.ts';

test.each([
  [{ kind: 'model', ref: 'Model/main' } as const, 'Model/main'],
  [{ kind: 'model', ref: 'Model/main', answeredBy: 'cache' } as const, 'extension cache for Model/main'],
  [{ kind: 'tool', name: 'dice__roll' } as const, 'dice__roll'],
  [{ kind: 'tool', name: 'dice__roll', answeredBy: 'approval' } as const, 'extension approval for dice__roll'],
  [{ kind: 'tool', name: 'dice__roll', changedBy: 'ann' } as const, 'dice__roll, changed by ann'],
  [
    { kind: 'tool', name: 'dice__roll', changedBy: 'ann', changedVia: 'chat' } as const,
    'dice__roll, changed by ann via chat',
  ],
])('%p is "%s"', (author, expected) => {
  expect(describeAuthor(author)).toBe(expected);
});
