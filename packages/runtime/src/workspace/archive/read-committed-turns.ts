/**
 * Reads every kept committed turn. It takes no lock and changes nothing, so that processes other than the owner can use
 * it. The last turn may not be in the archive yet, because its process has not added it yet or died before. In this
 * case the turn is made from the commit record and the log, in the same way as recovery does.
 */
import type { GoondanError } from '@goondan/types';
import { committedLog, isWholeLog } from '../records/committed-log.ts';
import { readExtensionFiles } from '../records/extension-files.ts';
import { readEventLine, readTurnLine } from '../records/logged-record.ts';
import type { CommitRecord, InstanceMetadata } from '../records/metadata.ts';
import { readOwnMetadata } from '../records/read-metadata.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore, isCorrupt } from '../lines/corrupt-store.ts';
import { readLines } from '../lines/read-lines.ts';
import { sealLines } from '../lines/seal-lines.ts';
import { archiveTexts } from './archive-lines.ts';
import { type ArchivedTurn, readArchive, readArchiveFile } from './read-archive.ts';

/**
 * The number of attempts to read. A commit that one attempt sees is in the archive after at most two more attempts,
 * however busy the owner is.
 */
const ATTEMPTS = 5;

/** Receives the reason why the end of a history cannot be checked. */
export type UncheckedListener = (error: GoondanError) => void;

/**
 * Yields the turns after commit `after`, oldest first, at least up to the commit that was newest when the read began.
 * If `onUnchecked` is given, a damaged commit record is reported to it, and only the turns in the archive are yielded.
 *
 * **Errors** — those of `readArchive`, `E_STORE_INSTANCE`; `E_STORE_CORRUPT` when the commit record is missing, or
 * refers to turns that neither the archive nor the log has.
 */
export async function* readCommittedTurns(
  stored: StoredInstance,
  after = 0,
  onUnchecked?: UncheckedListener,
): AsyncGenerator<ArchivedTurn> {
  const { paths } = stored;
  let last = after;
  let wanted: number | undefined;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    for await (const turn of readArchive(stored, paths.archive)) {
      if (turn.version <= last) continue;
      yield turn;
      last = turn.version;
    }
    const metadata = await findMetadata(stored, onUnchecked);
    if (!metadata) return;
    wanted ??= metadata.commit.version;
    if (last >= wanted) return;
    const turn = metadata.commit.version === last + 1 && (await unplacedTurn(stored, metadata.commit));
    if (turn) {
      yield turn;
      return;
    }
    // The turn was added to the archive while this function read the log.
  }
  throw await corruptStore(stored, paths.archive, `it ends after commit ${last}, and there were ${wanted}`);
}

async function findMetadata(
  stored: StoredInstance,
  onUnchecked: UncheckedListener | undefined,
): Promise<InstanceMetadata | undefined> {
  try {
    return await readOwnMetadata(stored);
  } catch (error) {
    if (onUnchecked === undefined || !isCorrupt(error)) throw error;
    onUnchecked(error);
    return undefined;
  }
}

async function unplacedTurn(stored: StoredInstance, commit: CommitRecord): Promise<ArchivedTurn | undefined> {
  const { fs, paths } = stored;
  const linesOf = async (path: string) => readLines((await fs.read(path)) ?? new Uint8Array()).lines;
  const events = (await linesOf(paths.events)).map(readEventLine);
  const log = committedLog(commit, events, (await linesOf(paths.turn)).map(readTurnLine));
  const extensions = await readExtensionFiles(stored, commit);
  if (!isWholeLog(commit, log) || extensions.damaged !== undefined) return undefined;
  const bytes = sealLines(archiveTexts(commit, log, 0, extensions.texts));
  const { value } = await readArchiveFile(stored, paths.archive, bytes).next();
  return value;
}
