/** Edits a text in the person's editor. Its file is private, and is removed in every case, also after Ctrl-C. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { makeTemporaryFolder } from '../temporary-folder.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the edited text, or `undefined` when `signal` aborts. The editor is `$VISUAL`, `$EDITOR` or `vi`. **Errors** —
 * `E_USAGE` when there is no such editor, or it fails; `E_STATE_ROOT` when no file can be made.
 */
export async function editInEditor(text: string, env: Environment, signal: AbortSignal): Promise<string | undefined> {
  if (signal.aborted) return undefined;
  const editor = env['VISUAL'] || env['EDITOR'] || 'vi';
  const { folder, removeFolder } = await makeTemporaryFolder('gdn-edit-');
  try {
    const path = join(folder, 'arguments.json');
    await writeFile(path, `${text}\n`, { mode: 0o600, flag: 'wx' });
    // The variables may have options, such as `code --wait`, so a shell splits them, as it does for git.
    const child = Bun.spawn(['sh', '-c', `${editor} "$1"`, editor, path], {
      stdio: ['inherit', 'inherit', 'inherit'],
      signal,
    });
    const code = await child.exited;
    if (signal.aborted) return undefined;
    if (code !== 0) throw failed(editor, code);
    return await readFile(path, 'utf8');
  } finally {
    removeFolder();
  }
}

function failed(editor: string, code: number): GoondanError {
  const suggestion = 'Set $VISUAL or $EDITOR to the command of your editor, such as `nano` or `code --wait`.';
  return new GoondanError('E_USAGE', `The editor "${editor}" ended with exit code ${code}.`, { suggestion });
}
