/**
 * The segments of an instance's log. A full segment is renamed to `events.<number>.jsonl`. The current segment is
 * `events.jsonl`; its number is that of the newest renamed segment plus one.
 */
import type { StoredInstance } from '../layout/instance-paths.ts';
import { numberOf, rotatedFiles } from '../lines/rotating-log.ts';

export interface Segment {
  readonly number: number;
  readonly path: string;
  readonly isCurrent: boolean;
}

/** Lists the segments, oldest first. The current segment is last, even if its file does not exist. */
export async function listSegments({ fs, paths }: Pick<StoredInstance, 'fs' | 'paths'>): Promise<Segment[]> {
  const older = (await rotatedFiles(fs, paths.events)).map((path) => {
    return { number: numberOf(paths.events, path), path, isCurrent: false };
  });
  return [...older, { number: (older.at(-1)?.number ?? 0) + 1, path: paths.events, isCurrent: true }];
}
