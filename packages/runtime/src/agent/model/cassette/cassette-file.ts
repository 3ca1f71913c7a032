/**
 * The file of a cassette: a first line that names the format, then one line for each call. Each line is on disk before
 * the reply is passed on, so a crash loses no recorded call. A last line that a crash left incomplete is ignored, and
 * removed before the next write. Only one process at a time may write a cassette.
 */
import { mkdir, open, readFile, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GoondanError } from '@goondan/types';
import { readEntry, writeEntry, type CassetteEntry, type CassetteRequest } from './cassette-entry.ts';

const firstLine = '{"cassette":1}';

/** Reads the calls of a cassette, in the order in which they began. */
export async function readCassette(path: string): Promise<CassetteEntry[]> {
  const text = await readText(path);
  if (text === undefined) throw damaged(`There is no cassette ${path}.`);
  return readEntries(text, path).toSorted((left, right) => left.call - right.call);
}

/** Opens a cassette to append calls; creates the file if it does not exist. */
export async function openCassetteWriter(path: string) {
  const written = await readText(path);
  const entries = readEntries(written ?? '', path);
  let calls = Math.max(0, ...entries.map((entry) => entry.call));
  let previous: CassetteRequest | undefined = entries.at(-1)?.request;
  let last: Promise<void> = prepareFile(path, written ?? '');
  await last;

  return {
    /** Returns the number of a call that begins now. */
    beginCall: () => ++calls,
    append(entry: CassetteEntry): Promise<void> {
      const write = async () => {
        await appendText(path, writeEntry(entry, previous));
        previous = entry.request;
      };
      // Writes even if the previous write failed; each caller gets only the failure of its own write.
      last = last.then(write, write);
      return last;
    },
  };
}

function readEntries(text: string, path: string): CassetteEntry[] {
  // The last piece is left out, because it is empty or a line that a crash left incomplete.
  const [head, ...lines] = text.split('\n').slice(0, -1);
  if (head !== undefined && head !== firstLine)
    throw damaged(`${path} is not a cassette: its first line is not ${firstLine}.`);
  const entries: CassetteEntry[] = [];
  for (const [index, line] of lines.entries()) {
    const entry = readEntry(line, entries.at(-1)?.request);
    if (entry === undefined) throw damaged(`Line ${index + 2} of the cassette ${path} is damaged.`);
    entries.push(entry);
  }
  return entries;
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw damaged(`The cassette ${path} cannot be read: ${String(error)}.`, error);
  }
}

async function prepareFile(path: string, text: string): Promise<void> {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  try {
    await mkdir(dirname(path), { recursive: true });
    if (whole.length < text.length) await truncate(path, Buffer.byteLength(whole));
  } catch (error) {
    throw damaged(`The cassette ${path} cannot be written: ${String(error)}.`, error);
  }
  if (whole === '') await appendText(path, `${firstLine}\n`);
}

async function appendText(path: string, text: string): Promise<void> {
  try {
    const file = await open(path, 'a', 0o600);
    try {
      await file.writeFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw damaged(`The cassette ${path} cannot be written: ${String(error)}.`, error);
  }
}

function damaged(message: string, cause?: unknown): GoondanError {
  return new GoondanError('E_CASSETTE_FILE', message, { cause });
}
