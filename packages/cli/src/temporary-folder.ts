import { rmSync } from 'node:fs';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';

/** Makes a folder that this process removes at its end. **Errors** — `E_STATE_ROOT`. */
export async function makeTemporaryFolder(prefix: string): Promise<{ folder: string; removeFolder: () => void }> {
  const folder = await makeFolder(prefix);
  const removeNow = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeNow);
  const removeFolder = () => {
    process.off('exit', removeNow);
    removeNow();
  };
  return { folder, removeFolder };
}

async function makeFolder(prefix: string): Promise<string> {
  try {
    return await mkdtemp(join(await realpath(tmpdir()), prefix));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new GoondanError('E_STATE_ROOT', `No temporary folder can be made in "${tmpdir()}": ${reason}.`, {
      suggestion: 'Set TMPDIR to a folder that you may write to.',
      cause,
    });
  }
}
