/**
 * Reads the inbox log for its owner, and warns of damage. The logs of the instances are witnesses: they say which input a turn
 * has begun, and its line was durable before.
 */
import type { AgentAddress } from '@goondan/types';
import type { StoredInstance } from '../layout/instance-paths.ts';
import type { StorePorts } from '../store-ports.ts';
import type { LineName } from './inbox-line.ts';
import { NO_PROGRESS, readProgress } from './input-progress.ts';
import { type InboxContents, keyOf, readInboxLog } from './read-inbox-log.ts';

export interface OwnLogPlace extends Pick<StorePorts, 'fs' | 'warn'> {
  /** The folder of the log. */
  readonly folder: string;
  readonly storedAt: (address: AgentAddress) => StoredInstance;
  /** Returns the lines that may have been in a log that is gone. Called if there is no segment. */
  readonly findMissing: () => Promise<readonly LineName[]>;
}

/** The place of lines that are in no segment yet. */
export const NO_SEGMENT = { segment: 0, path: '' };

export async function readOwnLog(place: OwnLogPlace): Promise<InboxContents> {
  const contents = await readJudged(place);
  if (contents.segments.length === 0)
    for (const { to, seq } of await place.findMissing()) contents.inboxOf(to, 1).lose(seq, NO_SEGMENT);
  for (const { path, problem } of contents.damage) place.warn({ path, message: problem });
  const newest = contents.segments.at(-1);
  if (contents.current?.torn && newest)
    place.warn({
      path: newest.path,
      message: `its end was cut off after byte ${contents.current.end}: a crash left it incomplete`,
    });
  return contents;
}

/** A crash cannot have left a torn end if an instance that it names has begun a line that is missing. */
async function readJudged({ fs, folder, storedAt }: OwnLogPlace): Promise<InboxContents> {
  const contents = await readInboxLog(fs, folder, true);
  for (const { to } of contents.current?.tornNames ?? []) {
    const known = contents.inboxes.get(keyOf(to))?.written ?? 0;
    // If the log of the instance cannot be read, its process says so.
    const { handled, begun } = await readProgress(storedAt(to)).catch(() => NO_PROGRESS);
    if (begun > Math.max(handled, known)) return readInboxLog(fs, folder, true, { mayBeTorn: false });
  }
  return contents;
}
