/** The entry of `gdn` on Bun. The launcher in `bin` starts it, with the current folder as the first argument. */
import { isatty } from 'node:tty';
import { GoondanError } from '@goondan/types';
import { delayCompiling } from './delay-compiling.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { reportError } from './report-error.ts';
import { asksForJson, runCommandLine } from './run-command-line.ts';
import { openTerminal, type Terminal } from './terminal.ts';

delayCompiling();
process.stdout.on('error', onOutputError);
void runWhereTyped(process.argv.slice(2)).then((code) => void (process.exitCode = code));

async function runWhereTyped([folder = '', ...args]: readonly string[]): Promise<ExitCode> {
  // `process.stdin` is left out, because accessing it would start reading.
  const { stdout, stderr, env } = process;
  const terminal = openTerminal({ stdin: { isTTY: isatty(0) }, stdout, stderr, env, json: asksForJson(args) });
  return enter(folder, terminal) ?? runCommandLine(args, terminal);
}

/**
 * Changes to the user's folder only now that Bun runs, so that files there cannot affect Bun's start. Returns an exit
 * code when the folder cannot be entered.
 */
function enter(folder: string, terminal: Terminal): ExitCode | undefined {
  try {
    process.chdir(folder);
    return undefined;
  } catch (error) {
    const what = folder === '' ? 'The current folder no longer exists.' : `"${folder}" cannot be entered.`;
    return reportError(new GoondanError('E_CURRENT_FOLDER', what, { cause: error }), terminal);
  }
}

function onOutputError(error: NodeJS.ErrnoException): void {
  // The reader has closed the pipe, as in `gdn … | head -1`, which is not a failure.
  if (error.code === 'EPIPE') process.exit(exitCodes.ok);
  process.stderr.write(`Standard output cannot be written: ${error.message}\n`);
  process.exit(exitCodes.failure);
}
