/**
 * `conversations.json` was written by the last version that wrote format 1: the files of fifteen conversations, and what
 * that version read from them. Some have several archive files, interrupted turns, answers, dead letters or a commit that
 * a crash interrupted. Only for tests.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Fixture {
  readonly files: Readonly<Record<string, string>>;
  readonly expected: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The interrupted turns by instance key. */
  readonly open: Readonly<Record<string, string>>;
}

export const fixture = JSON.parse(readFileSync(join(import.meta.dir, 'conversations.json'), 'utf8')) as Fixture;

/** Writes a state root of format 1, with the workspace `shop`. */
export function writeOldRoot(stateRoot: string): void {
  for (const [path, text] of Object.entries(fixture.files)) {
    mkdirSync(dirname(join(stateRoot, path)), { recursive: true });
    writeFileSync(join(stateRoot, path), text);
  }
}
