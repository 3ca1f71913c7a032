/**
 * Runs the command of a hook: it gets JSON on its standard input and answers with its exit code.
 *
 * Invariants:
 * 1. Exit code 0 allows. Exit code 2 blocks, with the standard error as the reason. Any other code logs a warning.
 * 2. The hook also blocks if its command cannot be started, is killed or takes too long, unless `onFailure` says
 *    otherwise.
 * 3. No process that the command started is left running.
 */
import { isAbsolute, resolve } from 'node:path';
import type { JsonObject } from '@goondan/types';
import { endTree } from '../../process-tree/end-tree.ts';
import { newProcessTag } from '../../process-tree/read-tree.ts';
import { commandEnvironment } from '../../process-tree/child-environment.ts';
import type { Ctx } from './facts.ts';
import type { CommandHook } from './hook.ts';

const DEFAULT_MS = 60_000;
const LONGEST_OUTPUT = 8_192;

/** Returns text to follow the name of the hook: why it blocks, or a warning, or neither when the hook allows. */
export async function runCommandHook(
  { command, timeoutMs = DEFAULT_MS, onFailure = 'block' }: CommandHook,
  input: JsonObject,
  env: Readonly<Record<string, string>>,
  { bundleFolder, workdir, signal }: Pick<Ctx, 'bundleFolder' | 'workdir' | 'signal'>,
): Promise<{ readonly blocked?: string; readonly warning?: string }> {
  const failed = (problem: string) =>
    onFailure === 'block' ? { blocked: `${problem}, so this is blocked` } : { warning: problem };
  signal.throwIfAborted();
  const tag = newProcessTag();
  let child: Bun.Subprocess<Blob, 'ignore', 'pipe'>;
  try {
    child = Bun.spawn(findProgram(command, bundleFolder), {
      cwd: workdir,
      env: commandEnvironment(process.env, env, tag),
      stdin: new Blob([JSON.stringify(input)]),
      stdout: 'ignore',
      stderr: 'pipe',
      detached: true,
    });
  } catch (error) {
    return failed(`cannot be started (${error instanceof Error ? error.message : String(error)})`);
  }
  const said = readAtMost(child.stderr, LONGEST_OUTPUT);
  const ending = await waitFor(child, timeoutMs, signal);
  await endTree({ pid: child.pid, tag }, { graceMs: ending === 'ended' ? 0 : 200 });
  signal.throwIfAborted();
  if (ending === 'late') return failed(`did not answer within ${timeoutMs} ms`);
  const words = (await said).trim();
  if (child.exitCode === 0) return {};
  if (child.exitCode === 2) return { blocked: `has blocked this${words === '' ? '' : `: ${words}`}` };
  if (child.exitCode === null) return failed(`was ended by ${String(child.signalCode)}`);
  return { warning: `ended with code ${child.exitCode}${words === '' ? '' : `: ${words}`}` };
}

/** Resolves `./check.sh` to a file of the bundle; a name without a slash is searched in PATH. */
function findProgram([program = '', ...rest]: readonly string[], bundleFolder: string): string[] {
  const isPath = program.includes('/') && !isAbsolute(program);
  return [isPath ? resolve(bundleFolder, program) : program, ...rest];
}

async function waitFor(child: Bun.Subprocess, timeoutMs: number, signal: AbortSignal): Promise<'ended' | 'late'> {
  const { promise: late, resolve: giveUp } = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => giveUp('late'), timeoutMs);
  const onAbort = () => giveUp('late');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([child.exited.then(() => 'ended' as const), late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Reads the output up to a limit. The rest is read too, but dropped, so that the process does not block on a full pipe.
 */
async function readAtMost(stream: ReadableStream<Uint8Array>, most: number): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const bytes of stream) if (text.length < most) text += decoder.decode(bytes, { stream: true });
  } catch {
    // If the pipe breaks, the text read so far is the result.
  }
  return text.slice(0, most).toWellFormed();
}
