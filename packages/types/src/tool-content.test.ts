import { expect, test } from 'bun:test';
import { isToolContent } from './tool-content.ts';

const file = { type: 'file', data: 'aGk=', mediaType: 'text/plain' };

test.each<[output: object, isContent: boolean]>([
  [{ type: 'content', value: [file] }, true],
  [{ type: 'content', value: [file], total: 1 }, false],
])('the output %j is shown as parts: %p', (output, isContent) => {
  expect(isToolContent(output)).toBe(isContent);
});
