import { describe, expect, test } from 'bun:test';
import { createColors } from '../../colors.ts';
import type { LiveView } from './chat-screen.ts';
import { line } from './line.ts';
import { PlainScreen } from './plain-screen.ts';

function open() {
  let written = '';
  let view: LiveView = { lines: [], label: '> ' };
  let write: (text: string) => void = () => undefined;
  const heard: string[] = [];
  const screen = new PlainScreen(
    {
      sent: (text) => {
        heard.push(`sent ${text}`);
        // The answer to a question ends the question.
        view = { ...view, label: '> ' };
      },
      interrupt: () => void heard.push('interrupt'),
      quit: () => void heard.push('quit'),
      leave: () => void heard.push('leave'),
      ended: () => void heard.push('ended'),
      complete: () => undefined,
      mayQueue: () => false,
      gone: () => void heard.push('gone'),
      live: () => view,
    },
    {
      write: (text) => void (written += text),
      columns: 80,
      colors: createColors(false),
      readLines: (onLine) => {
        write = onLine;
        return () => void heard.push('stopped reading');
      },
    },
  );
  screen.open();
  return {
    screen,
    heard,
    written: () => written,
    type: (text: string) => write(text),
    show: (next: Partial<LiveView>) => {
      view = { lines: [], label: '> ', ...next };
      screen.refresh();
    },
  };
}

describe('a screen without a movable cursor', () => {
  test('prompts, prints line by line, and prompts again when nothing runs any more', () => {
    const { screen, heard, written, type, show } = open();
    show({ lines: [line('working')] });
    type('hello');
    screen.print([line('You said: hello'), line('\x1b[2J')]);
    show({});
    expect(written()).toBe('> You said: hello\n␛[2J\n> ');
    expect(heard).toEqual(['sent hello']);
  });

  test('a note begins on a new line, and the prompt is repeated', () => {
    const { screen, written } = open();
    screen.print([line('warn')]);
    expect(written()).toBe('> \nwarn\n> ');
  });

  test('shows what a question asks for, also during a turn', () => {
    const { screen, written, type, show } = open();
    const lines = [line('working')];
    show({ lines });
    type('Bake it');
    screen.print([line('baker wants to run oven__bake')]);
    show({ lines, label: 'Let it run? ' });
    show({ lines, label: 'Let it run? ' });
    type('a');
    show({ lines, label: 'Always what? ' });
    type('t');
    screen.print([line('Baked.')]);
    show({});
    expect(written()).toBe('> baker wants to run oven__bake\nLet it run? Always what? Baked.\n> ');
  });

  test('shows a question that comes while the person can type', () => {
    const { written, show } = open();
    show({ label: 'Let it run? ' });
    show({});
    expect(written()).toBe('> \nLet it run? ');
  });

  test('a hint is printed once', () => {
    const { written, show } = open();
    show({ hint: line('again?') });
    show({ hint: line('again?') });
    expect(written()).toBe('> \nagain?\n> ');
  });

  test('text that cannot go back into the line is printed', () => {
    const { screen, written } = open();
    screen.setDraft('one\ntwo');
    expect(written()).toBe('> \nNot sent:\none\ntwo\n> ');
  });

  test('at the end, later output begins on a new line', () => {
    const { screen, heard, written } = open();
    screen.close();
    screen.print([line('late')]);
    expect(written()).toBe('> \nlate\n');
    expect(heard).toEqual(['stopped reading']);
  });
});
