/** The files of the inbox log: `inbox/inbox.000001.jsonl` and so on, oldest first. */
import type { Fs } from '../../ports/fs.ts';

export interface InboxSegment {
  readonly number: number;
  readonly path: string;
}

const NAME = /^inbox\.(\d{6,})\.jsonl$/;

export function segmentPath(folder: string, number: number): string {
  return `${folder}/inbox.${String(number).padStart(6, '0')}.jsonl`;
}

export async function listInboxSegments(fs: Pick<Fs, 'list'>, folder: string): Promise<InboxSegment[]> {
  const names = (await fs.list(folder)) ?? [];
  const numbers = names.flatMap((name) => Number(NAME.exec(name)?.[1] ?? [])).filter((number) => number > 0);
  return numbers.toSorted((one, other) => one - other).map((number) => ({ number, path: segmentPath(folder, number) }));
}
