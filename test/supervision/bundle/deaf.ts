/** A layer that never returns, even after a cancel, if its input says so. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExtensionRegister } from '@goondan/types';

export const register: ExtensionRegister<{ folder: string }> = ({ pipeline }, { folder }) => {
  pipeline.register('step', async (ctx) => {
    const { inputEvent } = ctx.turn;
    if (inputEvent.input !== 'be deaf') return ctx.next();
    appendFileSync(join(folder, 'notes.log'), `begin turn-${inputEvent.id}\n`);
    return new Promise(() => undefined);
  });
};
