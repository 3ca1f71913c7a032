import { describe, expect, test } from 'bun:test';
import { InputHistory } from './input-history.ts';

function all(history: InputHistory): string[] {
  const found: string[] = [];
  for (let text = history.go(-1, ''); text !== undefined; text = history.go(-1, '')) found.unshift(text);
  return found;
}

describe('the history of sent messages', () => {
  test('keeps a repeated message once, and no blank ones', () => {
    const history = new InputHistory();
    for (const text of ['one', 'two', 'two', ' ', 'one']) history.add(text);
    expect(all(history)).toEqual(['one', 'two', 'one']);
  });

  test('keeps the newest 500', () => {
    const history = new InputHistory();
    for (let count = 0; count < 600; count += 1) history.add(`message ${count}`);
    expect(all(history)).toHaveLength(500);
    expect(history.go(1, '')).toBe('message 101');
  });

  test('keeps at most 5 million characters together', () => {
    const history = new InputHistory();
    for (let count = 0; count < 10; count += 1) history.add(String(count).repeat(1_000_000));
    expect(all(history).map((text) => text.charAt(0))).toEqual(['5', '6', '7', '8', '9']);
  });

  test('is replaced with another conversation', () => {
    const history = new InputHistory();
    history.add('old');
    history.replace(['new']);
    expect(all(history)).toEqual(['new']);
  });
});
