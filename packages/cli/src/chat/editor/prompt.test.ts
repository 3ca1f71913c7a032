import { describe, expect, test } from 'bun:test';
import type { Key } from './key.ts';
import { Prompt } from './prompt.ts';

function type(prompt: Prompt, ...keys: (string | Key)[]) {
  const outcomes = keys.map((key) => prompt.press(typeof key === 'string' ? { type: 'text', text: key } : key));
  return outcomes.at(-1);
}

const enter: Key = { type: 'enter' };
const up: Key = { type: 'up' };
const down: Key = { type: 'down' };

describe('the prompt', () => {
  test('Enter sends the text and empties the line', () => {
    const prompt = new Prompt();
    expect(type(prompt, 'hello', enter)).toEqual({ type: 'sent', text: 'hello' });
    expect(prompt.edited.text).toBe('');
  });

  test('a backslash before Enter begins a new line, and so does Alt-Enter', () => {
    const prompt = new Prompt();
    expect(type(prompt, 'one\\', enter)).toEqual({ type: 'edited' });
    expect(type(prompt, 'two', { type: 'new-line' }, 'three', enter)).toEqual({
      type: 'sent',
      text: 'one\ntwo\nthree',
    });
  });

  test('a paste of several lines is one message', () => {
    expect(type(new Prompt(), { type: 'paste', text: 'one\r\ntwo\n' }, 'three', enter)).toEqual({
      type: 'sent',
      text: 'one\ntwo\nthree',
    });
  });

  test('the arrow keys bring back sent messages, and the unsent text', () => {
    const prompt = new Prompt();
    type(prompt, 'one', enter, 'two', enter, 'draft', up);
    expect(prompt.edited.text).toBe('two');
    type(prompt, up, up);
    expect(prompt.edited.text).toBe('one');
    type(prompt, down, down);
    expect(prompt.edited.text).toBe('draft');
  });

  test('within several lines the arrow keys move the cursor first', () => {
    const prompt = new Prompt();
    type(prompt, 'sent', enter, 'one', { type: 'new-line' }, 'two', up);
    expect(prompt.edited).toMatchObject({ text: 'one\ntwo', cursor: 3 });
    type(prompt, up);
    expect(prompt.edited.text).toBe('sent');
  });

  test('an emptied line can be brought back', () => {
    const prompt = new Prompt();
    type(prompt, 'precious');
    prompt.clear();
    expect(prompt.edited.text).toBe('');
    type(prompt, up);
    expect(prompt.edited.text).toBe('precious');
  });

  test('Ctrl-D leaves when the line is empty, and deletes otherwise', () => {
    const prompt = new Prompt();
    expect(type(prompt, { type: 'end-of-input' })).toEqual({ type: 'leave' });
    expect(type(prompt, 'ab', { type: 'home' }, { type: 'end-of-input' })).toEqual({ type: 'edited' });
    expect(prompt.edited.text).toBe('b');
  });

  test('text over the limit is refused, and the line stays', () => {
    const prompt = new Prompt();
    expect(type(prompt, 'draft', { type: 'paste-too-long' })).toMatchObject({ type: 'refused' });
    expect(prompt.edited.text).toBe('draft');
  });
});

test('Y-08 Tab sends the text as the next turn, and does nothing without a text', () => {
  const prompt = new Prompt();
  expect(prompt.press({ type: 'tab' })).toEqual({ type: 'edited' });
  prompt.set('later');
  expect(prompt.press({ type: 'tab' })).toEqual({ type: 'sent', text: 'later', isNext: true });
  expect(prompt.edited.text).toBe('');
});
