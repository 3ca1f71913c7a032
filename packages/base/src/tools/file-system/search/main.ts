/** The main program of a search process: reads its task as JSON, and prints each finding as a line of JSON. */
import { writeSync } from 'node:fs';
import { findMatches, type SearchAsk } from './find-matches.ts';

const ask = JSON.parse(await Bun.stdin.text()) as SearchAsk;
try {
  for (const finding of findMatches(ask)) say(finding);
  say({ done: true });
} catch (error) {
  const { message, code } = error as { message?: string; code?: string };
  say({ failed: { message: message ?? String(error), code } });
}

/** Writes a line completely and synchronously, because this process may be killed at any moment. */
function say(line: object): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at);
}
