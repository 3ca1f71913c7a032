import { digestJson } from '../../json/digest-json.ts';
import type { RecordedEdit } from './changeset-record.ts';

/** Returns the digest of edits that are sorted by path. An approval is bound to it. */
export function digestEdits(edits: readonly RecordedEdit[]): string {
  return digestJson(edits.map(({ path, before, after }) => ({ path, before, after })));
}
