/** `npm run write -- demo`: draws the output of `gdn demo` into `docs/images`, light and dark. */
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { GdnPlace } from '../packages/cli/src/testing/gdn-place.ts';
import { drawTerminal, type Theme } from './draw-terminal.ts';

const place = new GdnPlace();
const { screen, exitCode } = await place.runOnTerminal(['demo'], [], { env: { NO_COLOR: '' } });
await place.remove();
if (exitCode !== 0) throw new Error(screen);

// The answer and the trace. The legend above the trace is too wide for a picture, and the page explains the signs.
const shown = screen
  .split('\n')
  .filter((line) => /^(?:You|Agent|turn|│) /.test(stripVTControlCharacters(line)) || line === '')
  .join('\n')
  .trim();
for (const theme of ['light', 'dark'] satisfies Theme[]) {
  const picture = drawTerminal(
    shown,
    theme,
    'The trace of a turn of the demo: every layer with its own time and changes',
  );
  await Bun.write(join(import.meta.dir, '..', 'docs', 'images', `demo-${theme}.svg`), picture);
}
