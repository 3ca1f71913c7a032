/**
 * Writes `metadata.forged` of an event straight into the channel of its process, past all checks, as hostile code of a
 * bundle could.
 */
import { writeSync } from 'node:fs';
import type { ExtensionRegister } from '@goondan/types';

const CHANNEL = 3;

export const register: ExtensionRegister = ({ pipeline }) => {
  pipeline.register('turn', (ctx) => {
    const { forged, fill = 0 } = ctx.inputEvent.metadata ?? {};
    // Written by a test of this folder.
    for (const line of (forged ?? []) as string[]) write(Buffer.from(`${line}\n`, 'latin1'));
    if (Number(fill) > 0) write(Buffer.from(`${'x'.repeat(Number(fill))}\n`));
    return ctx.next();
  });
};

function write(bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(CHANNEL, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      // The other side is slower: try again.
      Bun.sleepSync(1);
    }
  }
}
