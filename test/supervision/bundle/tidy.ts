/** An extension that records its start and its cleanup, and cleans up slowly. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExtensionRegister } from '@goondan/types';

export const register: ExtensionRegister<{ folder: string }> = (_api, { folder }) => {
  const note = (text: string) => appendFileSync(join(folder, 'notes.log'), `${text}\n`);
  note('registered');
  return async () => {
    await Bun.sleep(100);
    note('cleaned up');
  };
};
