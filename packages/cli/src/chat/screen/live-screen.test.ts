import { describe, expect, test } from 'bun:test';
import { manualClock } from '@goondan/runtime/testing';
import { createColors } from '../../colors.ts';
import { type LiveView, type ScreenHooks } from './chat-screen.ts';
import { line } from './line.ts';
import { LiveScreen } from './live-screen.ts';
import type { Tty, TtyListener } from './tty.ts';

/** A fake terminal. It accepts output either at once or when `take` is called. */
class FakeTty implements Tty {
  readonly written: string[] = [];
  listener: TtyListener | undefined;
  isSlow = false;
  #waiting: (() => void)[] = [];
  size() {
    return { columns: 20, rows: 10 };
  }
  write(text: string, written: () => void): void {
    this.written.push(text);
    if (this.isSlow) this.#waiting.push(written);
    else written();
  }
  take(): void {
    for (const written of this.#waiting.splice(0)) written();
  }
  takeOver(listener: TtyListener): void {
    this.listener = listener;
  }
  giveBack(): void {
    this.listener = undefined;
  }
  press(keys: string): void {
    this.listener?.pressed(new TextEncoder().encode(keys));
  }
}

async function complete(before: string) {
  if (before === '/n') return undefined;
  return before === '/' ? { before, candidates: ['/help', '/new'] } : { before: '/help ', candidates: [] };
}

function open() {
  const heard: string[] = [];
  const tty = new FakeTty();
  const clock = manualClock();
  let view: LiveView = { lines: [], label: '> ' };
  const hooks: ScreenHooks = {
    sent: (text, when) => void heard.push(when === 'next' ? `queued ${text}` : `sent ${text}`),
    interrupt: () => void heard.push('interrupt'),
    quit: () => void heard.push('quit'),
    leave: () => void heard.push('leave'),
    ended: () => void heard.push('ended'),
    complete: (before) => (before.startsWith('/') ? complete(before) : undefined),
    mayQueue: () => view.lines.length > 0,
    gone: () => void heard.push('gone'),
    live: () => view,
  };
  const screen = new LiveScreen(hooks, { tty, clock, colors: createColors(false) });
  screen.open();
  return { screen, tty, clock, heard, show: (next: Partial<LiveView>) => void (view = { ...view, ...next }) };
}

describe('the live screen', () => {
  test('prints finished lines once, and redraws the live part', async () => {
    const { screen, tty, clock, show } = open();
    await clock.advance(25);
    show({ lines: [line('working')] });
    screen.print([line('finished')]);
    await clock.advance(25);
    screen.refresh();
    await clock.advance(25);
    const frames = tty.written.slice(1);
    expect(frames[0]).toContain('finished\r\n');
    expect(frames[0]).toContain('working\r\n> ');
    expect(frames[1]).not.toContain('finished');
    // The live part begins one row above the cursor.
    expect(frames[1]).toContain('\r\x1b[1A\x1b[J');
  });

  test('Tab completes a word, or lists what it may become; text that follows Tab wins', async () => {
    const { screen, tty, clock, show, heard } = open();
    tty.press('/hx\x1b[D\t');
    await clock.advance(25);
    expect(screen.draft).toBe('/help x');
    tty.press('\x05\x15/\t');
    await clock.advance(25);
    expect(tty.written.at(-1)).toContain('/help  /new\r\n');
    show({ lines: [line('working')] });
    tty.press('h\tx');
    await clock.advance(25);
    expect(screen.draft).toBe('/hx');
    tty.press('\x15hi\t');
    expect(heard).toEqual(['queued hi']);
  });

  test('prints harmless text', async () => {
    const { screen, tty, clock } = open();
    screen.print([line('\x1b[2Jgone', 'red'), [{ text: 'a\rb' }]]);
    await clock.advance(25);
    expect(tty.written[0]).toContain('␛[2Jgone\r\na␍b\r\n');
  });

  test('Y-08 Tab queues the text while a turn runs, and leaves it alone otherwise', () => {
    const { screen, tty, heard, show } = open();
    tty.press('later\t');
    expect([heard, screen.draft]).toEqual([[], 'later']);
    show({ lines: [line('working')] });
    tty.press('\t');
    expect([heard, screen.draft]).toEqual([['queued later'], '']);
  });

  test('draws many changes in one frame', async () => {
    const { screen, tty, clock } = open();
    await clock.advance(25);
    for (let count = 0; count < 1_000; count += 1) screen.refresh();
    await clock.advance(25);
    expect(tty.written).toHaveLength(2);
  });

  test('sends a slow terminal one frame with everything, when it is ready', async () => {
    const { screen, tty, clock } = open();
    tty.isSlow = true;
    await clock.advance(25);
    for (const each of ['one', 'two', 'three']) {
      screen.print([line(each)]);
      await clock.advance(100);
    }
    expect(tty.written).toHaveLength(1);
    tty.take();
    await clock.advance(25);
    expect(tty.written).toHaveLength(2);
    expect(tty.written[1]).toContain('one\r\ntwo\r\nthree\r\n');
  });

  test('keys write, send and interrupt', async () => {
    const { screen, tty, heard } = open();
    tty.press('hello');
    expect(screen.draft).toBe('hello');
    tty.press('\r\x03\x04');
    expect(heard).toEqual(['sent hello', 'interrupt', 'leave']);
    tty.listener?.gone();
    expect(heard.at(-1)).toBe('gone');
  });

  test('a lone escape does not swallow the next characters', async () => {
    const { screen, tty, clock } = open();
    tty.press('\x1b');
    await clock.advance(100);
    tty.press('[A');
    expect(screen.draft).toBe('[A');
  });

  test('at the end the live part disappears, finished lines stay, and later lines are printed', async () => {
    const { screen, tty, clock, show } = open();
    show({ lines: [line('working')] });
    await clock.advance(25);
    screen.print([line('last words')]);
    screen.close();
    screen.close();
    expect(tty.listener).toBeUndefined();
    expect(tty.written.at(-1)).toContain('\x1b[1A\x1b[J');
    expect(tty.written.at(-1)).toContain('last words\r\n');
    expect(tty.written.at(-1)).not.toContain('working');
    screen.print([line('late')]);
    expect(tty.written.at(-1)).toContain('late\r\n');
    expect(clock.pending).toBe(0);
  });

  test('Ctrl-L clears the screen into the scrollback', async () => {
    const { tty, clock } = open();
    await clock.advance(25);
    tty.press('\x0c');
    expect(tty.written[1]).toEndWith(`${'\r\n'.repeat(9)}\x1b[H`);
  });

  test('is never higher than the terminal', async () => {
    const { screen, tty, clock, show } = open();
    show({ lines: Array.from({ length: 50 }, (_, index) => line(`row ${index}`)) });
    screen.refresh();
    await clock.advance(25);
    const rows = tty.written.at(-1)?.split('\r\n') ?? [];
    expect(rows).toHaveLength(9);
    expect(rows[0]).toEndWith('row 42');
    expect(rows[7]).toBe('row 49');
  });
});
