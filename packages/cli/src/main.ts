/** The entry of `gdn` on Bun. The launcher in `bin` starts it, with the current folder as the first argument. */
import { writeSync } from 'node:fs';
import { GoondanError } from '@goondan/types';
import { delayCompiling } from './delay-compiling.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { reportError } from './report-error.ts';
import { asksForJson, runCommandLine } from './run-command-line.ts';
import { isTerminal, openOutput } from './standard-streams.ts';
import { openTerminal, type Terminal } from './terminal.ts';

delayCompiling();
void runWhereTyped(process.argv.slice(2)).then((code) => void (process.exitCode = code));

async function runWhereTyped([folder = '', ...args]: readonly string[]): Promise<ExitCode> {
  const terminal = openTerminal({
    // Does not use `process.stdin`, because accessing it would start reading.
    stdin: { isTTY: isTerminal(0) },
    stdout: openOutput(1, onOutputError),
    // Nobody can be told that standard error cannot be written.
    stderr: openOutput(2, () => process.exit(exitCodes.failure)),
    env: process.env,
    json: asksForJson(args),
  });
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
  writeSync(2, `Standard output cannot be written: ${error.message}\n`);
  process.exit(exitCodes.failure);
}
