/** Reads the last lines of a swarm's log, even while the swarm writes it. */
import { type Fs, systemFs } from '../../ports/fs.ts';
import type { LogLine } from '../../ports/log-line.ts';
import { swarmLogPath, workspaceFolder, type StorePlace } from '../layout/instance-paths.ts';
import { codedFs } from '../../ports/coded-fs.ts';
import { rotatedFiles } from '../lines/rotating-log.ts';
import { decodeLine } from './log-text.ts';

export interface LogQuestion {
  /** The maximum number of lines to return: the last ones that match. */
  readonly last: number;
  readonly agent?: string;
  readonly instance?: string;
  readonly traceId?: string;
  /** Tells whether a line matches; all lines match when absent. Called only for lines that match the other fields. */
  readonly where?: (line: LogLine) => boolean;
}

/**
 * Returns the lines, oldest first. Reads the newest file first, then older files until it has enough lines. **Errors**
 * — `E_STORE_READ`.
 */
export async function readSwarmLog(
  { fs = systemFs, stateRoot, workspaceId }: StorePlace,
  question: LogQuestion,
): Promise<readonly LogLine[]> {
  const found: LogLine[] = [];
  const path = swarmLogPath(workspaceFolder(stateRoot, workspaceId));
  for await (const texts of filesBackwards(codedFs(fs), path)) {
    for (const text of texts.toReversed()) {
      if (found.length >= question.last) return found.toReversed();
      const line = decodeLine(text);
      if (line && isAskedFor(line, question)) found.push(line);
    }
  }
  return found.toReversed();
}

/** Returns true if the line matches the question. */
export function isAskedFor(line: LogLine, { agent, instance, traceId, where = () => true }: LogQuestion): boolean {
  const fits = (wanted: string | undefined, found: string | undefined) => wanted === undefined || wanted === found;
  return fits(agent, line.agent) && fits(instance, line.instance) && fits(traceId, line.traceId) && where(line);
}

/**
 * Yields the lines of each file, newest file first. The current file is read before the rotated files are listed; if
 * the current file was rotated in between, this file and newer files in the list are skipped.
 */
async function* filesBackwards(fs: Fs, path: string): AsyncGenerator<readonly string[]> {
  const current = await readSnapshot(fs, path);
  if (current) yield current.lines;
  const rotated = (await rotatedFiles(fs, path)).toReversed();
  const identities = await Promise.all(rotated.map(async (each) => (await fs.stat(each))?.identity));
  const place = current ? identities.indexOf(current.identity) : -1;
  for (const older of rotated.slice(place + 1)) {
    const file = await readSnapshot(fs, older);
    if (file) yield file.lines;
  }
}

const ATTEMPTS = 5;

/** Reads the file together with its inode number, because another file may get its name meanwhile. */
async function readSnapshot(
  fs: Fs,
  path: string,
): Promise<{ readonly identity: string; readonly lines: readonly string[] } | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await fs.stat(path);
    const bytes = await fs.read(path);
    const after = await fs.stat(path);
    const isSame = before?.identity === after?.identity;
    if (!isSame && attempt < ATTEMPTS) continue;
    if (!bytes || !after) return undefined;
    return { identity: after.identity, lines: new TextDecoder().decode(bytes).split('\n') };
  }
}
