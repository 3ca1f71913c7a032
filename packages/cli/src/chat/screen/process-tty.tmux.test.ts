// Tests, with real programs in a real terminal, that a program restores the terminal however it ends.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { GdnPlace } from '../../testing/gdn-place.ts';
import { hasTmux, TmuxTerminal } from '../../testing/tmux-terminal.ts';

setDefaultTimeout(60_000);

const source = JSON.stringify(join(import.meta.dir, 'process-tty.ts'));

const program = (end: string) => `import { processTty } from ${source};
const tty = processTty();
const listener = { pressed: (bytes) => pressed(bytes), resized() {}, gone() {} };
tty.takeOver(listener);
tty.write('taken over ', () => undefined);
function pressed(bytes) {
  tty.write('\\x1b[?25l\\x1b[?7lpressed ', () => undefined);
  ${end}
}
`;

describe.skipIf(!hasTmux)('a terminal in raw mode', () => {
  let place: GdnPlace;
  let terminal: TmuxTerminal;
  beforeEach(async () => {
    place = new GdnPlace();
    terminal = await TmuxTerminal.open({ cwd: place.folder });
  });
  afterEach(async () => {
    await terminal.close();
    expect(await place.remove()).toEqual([]);
  });

  test.each([
    ['is given back', `tty.giveBack();`],
    ['an uncaught error', `throw new Error('Not foreseen.');`],
    ['an unhandled rejection', `void Promise.reject(new Error('Not foreseen.'));`],
    ['process.exit', `process.exit(1);`],
  ])('is restored after: %s', async (_name, end) => {
    await place.write('.', { 'program.ts': program(end) });
    await terminal.enter(`'${process.execPath}' program.ts`);
    await terminal.see('taken over');
    // Types without Enter: the key must arrive as soon as it is pressed.
    await terminal.type('x');
    await terminal.see(/\$$/);
    expect(await terminal.screen()).not.toContain('taken over x');
    expect(await terminal.modes()).toEqual({ cursor: true, wrap: true });
    expect(await terminal.isCooked()).toBe(true);
  });
});
