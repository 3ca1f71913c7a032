/**
 * Reads every kept committed turn. It takes no lock and changes nothing, so that processes other than the owner can use
 * it. The last turn may not be in the archive yet, because its process is about to add it or died before it could. Then
 * the turn is built from the commit record and the log, as recovery would do it.
 */
import type { AgentAddress, GoondanError } from '@goondan/types';
import { committedLog, isWholeLog } from '../records/committed-log.ts';
import { readExtensionFiles } from '../records/extension-files.ts';
import { readEventLine, readTurnLine } from '../records/logged-record.ts';
import { type CommitRecord, type InstanceMetadata, refuseOtherInstance } from '../records/metadata.ts';
import { readMetadata, refuseLostMetadata } from '../records/read-metadata.ts';
import type { InstancePaths } from '../layout/instance-paths.ts';
import { corruptStore, isCorrupt } from '../lines/corrupt-store.ts';
import { readLines } from '../lines/read-lines.ts';
import { sealLines } from '../lines/seal-lines.ts';
import type { StorePorts } from '../store-ports.ts';
import { archiveTexts } from './archive-lines.ts';
import { type ArchivedTurn, readArchive, readArchiveFile } from './read-archive.ts';

/** A commit seen by one attempt is in the archive after at most two more attempts, however busy its owner is. */
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
  ports: StorePorts,
  paths: InstancePaths,
  address: AgentAddress,
  after = 0,
  onUnchecked?: UncheckedListener,
): AsyncGenerator<ArchivedTurn> {
  let last = after;
  let wanted: number | undefined;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    for await (const turn of readArchive(ports, paths.archive)) {
      if (turn.version <= last) continue;
      yield turn;
      last = turn.version;
    }
    const metadata = await findMetadata(ports, paths, onUnchecked);
    if (!metadata) return;
    refuseOtherInstance(paths.metadata, address, metadata);
    wanted ??= metadata.commit.version;
    if (last >= wanted) return;
    const turn = metadata.commit.version === last + 1 && (await unplacedTurn(ports, paths, metadata.commit));
    if (turn) {
      yield turn;
      return;
    }
    // The turn was added to the archive while this function read the log.
  }
  throw await corruptStore(ports, paths.archive, `it ends after commit ${last}, and there were ${wanted}`);
}

async function findMetadata(
  ports: StorePorts,
  paths: InstancePaths,
  onUnchecked: UncheckedListener | undefined,
): Promise<InstanceMetadata | undefined> {
  try {
    const metadata = await readMetadata(ports, paths.metadata);
    if (!metadata) await refuseLostMetadata(ports, paths);
    return metadata;
  } catch (error) {
    if (onUnchecked === undefined || !isCorrupt(error)) throw error;
    onUnchecked(error);
    return undefined;
  }
}

async function unplacedTurn(
  ports: StorePorts,
  paths: InstancePaths,
  commit: CommitRecord,
): Promise<ArchivedTurn | undefined> {
  const { fs } = ports;
  const linesOf = async (path: string) => readLines((await fs.read(path)) ?? new Uint8Array()).lines;
  const events = (await linesOf(paths.events)).map(readEventLine);
  const log = committedLog(commit, events, (await linesOf(paths.turn)).map(readTurnLine));
  const extensions = await readExtensionFiles(fs, paths, commit);
  if (!isWholeLog(commit, log) || extensions.damaged !== undefined) return undefined;
  const bytes = sealLines(archiveTexts(commit, log, 0, extensions.texts));
  const { value } = await readArchiveFile(ports, paths.archive, bytes).next();
  return value;
}
