/**
 * Writes a file that only its owner can read, piece by piece. The file gets its final name when all of it is on disk,
 * so a failed or interrupted write leaves nothing behind.
 */
import { type FileHandle, link, lstat, open, rename, rm } from 'node:fs/promises';
import { GoondanError } from '@goondan/types';
import { interrupted } from '../interrupted.ts';

const PIECE = 64 * 1024;

/** **Errors** — `E_OUTPUT_FILE`; `E_CANCELLED`; the errors that `pieces` throws. */
export async function writePrivateFile(
  path: string,
  pieces: AsyncIterable<string>,
  { replace, signal }: { readonly replace: boolean; readonly signal: AbortSignal },
): Promise<void> {
  await refuseTaken(path, replace);
  const draft = `${path}.${crypto.randomUUID()}.part`;
  const file = await open(draft, 'wx', 0o600).catch((error: unknown) => {
    throw cannotWrite(path, error);
  });
  try {
    try {
      for await (const text of gathered(pieces)) {
        if (signal.aborted) throw interrupted(`Nothing was written to "${path}".`);
        await appendAll(file, text, path);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await putInPlace(draft, path, replace);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Joins short pieces, so that a long text needs few writes. */
export async function* gathered(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length < PIECE) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

/** Throws before any work is done if the file exists and must not be replaced. At the end, `link` checks again. */
async function refuseTaken(path: string, replace: boolean): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || (replace && !found.isDirectory())) return;
  throw found.isDirectory() ? isFolder(path) : isTaken(path);
}

async function appendAll(file: FileHandle, text: string, path: string): Promise<void> {
  await file.appendFile(text).catch((error: unknown) => {
    throw cannotWrite(path, error);
  });
}

async function putInPlace(draft: string, path: string, replace: boolean): Promise<void> {
  try {
    // `link` fails if the file exists; `rename` replaces it.
    await (replace ? rename(draft, path) : link(draft, path));
  } catch (error) {
    throw error instanceof Error && 'code' in error && error.code === 'EEXIST'
      ? isTaken(path)
      : cannotWrite(path, error);
  }
}

function isTaken(path: string): GoondanError {
  return new GoondanError('E_OUTPUT_FILE', `"${path}" is there already, and was left alone.`, {
    suggestion: 'Choose another name, or add `--force` to replace it.',
  });
}

function isFolder(path: string): GoondanError {
  return new GoondanError('E_OUTPUT_FILE', `"${path}" is a folder.`, { suggestion: 'Name a file, as in `out.json`.' });
}

function cannotWrite(path: string, cause: unknown): GoondanError {
  // The message of the system names the draft, which the reader does not know.
  const reason = cause instanceof Error ? cause.message.replace(/, \w+ '[^]*$/, '') : String(cause);
  return new GoondanError('E_OUTPUT_FILE', `"${path}" cannot be written: ${reason}.`, { cause });
}
