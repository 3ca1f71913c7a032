/**
 * Searches in a separate process, which is ended when enough matches are found, at the deadline, or when the turn is
 * cancelled.
 */
import { GoondanError } from '@goondan/types';
import { fileError } from '../file-error.ts';
import type { Finding, Match, SearchAsk } from './find-matches.ts';

export type SearchResult = {
  matches: Match[];
  /** Why the search is incomplete; absent when it is complete. */
  stopped?: 'limit' | 'time';
  /** The number of skipped files: too large, or not text. */
  skipped?: number;
};

type Said = Finding | { done: true } | { failed: { message: string; code?: string } };

/** Bun flags that keep the process from reading or running any file of the current folder. */
const flags = ['--config=/dev/null', '--no-env-file', '--no-install', '--no-orphans'];

export async function searchFiles(
  ask: SearchAsk,
  { limit, timeoutMs, signal }: { readonly limit: number; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<SearchResult> {
  checkPattern(ask);
  signal.throwIfAborted();
  const child = Bun.spawn([process.execPath, ...flags, Bun.resolveSync('./main', import.meta.dir)], {
    cwd: '/',
    env: tagsOf(process.env),
    stdin: Buffer.from(JSON.stringify(ask)),
    stdout: 'pipe',
    stderr: 'ignore',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const onAbort = () => child.kill('SIGKILL');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const result = await collect(child.stdout, ask, limit);
    signal.throwIfAborted();
    return result;
  } finally {
    child.kill('SIGKILL');
    await child.exited;
    signal.removeEventListener('abort', onAbort);
  }
}

function checkPattern({ pattern, glob }: SearchAsk): void {
  if (pattern === undefined && glob === undefined) {
    throw new GoondanError('E_FILE_PATTERN', 'A search needs a `pattern` for lines, a `glob` for paths, or both.');
  }
  try {
    if (pattern !== undefined) void new RegExp(pattern, 'u');
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new GoondanError('E_FILE_PATTERN', `\`pattern\` is not a regular expression: ${message}.`, { cause: error });
  }
}

/** Returns the tags by which the processes of an agent are found after the agent has exited. */
function tagsOf({ GOONDAN_RUN, GOONDAN_CHILD }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...(GOONDAN_RUN && { GOONDAN_RUN }), ...(GOONDAN_CHILD && { GOONDAN_CHILD }) };
}

async function collect(stdout: ReadableStream<Uint8Array>, ask: SearchAsk, limit: number): Promise<SearchResult> {
  const matches: Match[] = [];
  let skipped = 0;
  const result = (more: Pick<SearchResult, 'stopped'>) => ({ matches, ...(skipped === 0 ? {} : { skipped }), ...more });
  for await (const said of readSaid(stdout)) {
    if ('failed' in said) throw failure(ask, said.failed);
    if ('done' in said) return result({});
    if ('skipped' in said) skipped += 1;
    else if (matches.length < limit) matches.push(said.match);
    else return result({ stopped: 'limit' });
  }
  // The output ends without `done`, because the process was killed before it had finished.
  return result({ stopped: 'time' });
}

async function* readSaid(stdout: ReadableStream<Uint8Array>): AsyncGenerator<Said> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stdout) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    // The cast is safe: only our own program writes this output.
    for (const line of lines) yield JSON.parse(line) as Said;
  }
}

function failure(ask: SearchAsk, { message, code }: { message: string; code?: string }): GoondanError {
  const known = ['E_FILE_KIND', 'E_FILE_MISSING', 'E_FILE_OUTSIDE'] as const;
  const own = known.find((each) => each === code);
  return own === undefined
    ? fileError('E_FILE_FAILED', ask.path, `cannot be searched: ${message}`)
    : new GoondanError(own, message);
}
