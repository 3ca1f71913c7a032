/** Where `gdn` begins, on Bun: the launcher in `bin` has found it, and says as the first argument where it was typed. */
import { isatty } from 'node:tty';
import { GoondanError } from '@goondan/types';
import { createProgram } from './create-program.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { reportError } from './report-error.ts';
import { openTerminal } from './terminal.ts';

process.stdout.on('error', onOutputError);
process.exitCode = await runCommandLine(process.argv.slice(2));

async function runCommandLine([folder = '', ...args]: readonly string[]): Promise<ExitCode> {
  // Not `process.stdin`, which would start to read for whoever asks only whether it is a terminal.
  const { stdout, stderr, env } = process;
  const terminal = openTerminal({ stdin: { isTTY: isatty(0) }, stdout, stderr, env });
  let code: ExitCode = exitCodes.ok;
  try {
    enter(folder);
    const program = createProgram(terminal, (ended) => {
      code = ended;
    });
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    return reportError(error, terminal);
  }
}

/** Only now that Bun runs: what is in there must not decide how it does. */
function enter(folder: string): void {
  try {
    process.chdir(folder);
  } catch (error) {
    const what = folder === '' ? 'The current folder is not there any more.' : `"${folder}" cannot be entered.`;
    throw new GoondanError('E_CURRENT_FOLDER', what, { cause: error });
  }
}

function onOutputError(error: NodeJS.ErrnoException): void {
  // `gdn … | head -1`: whoever read has seen enough, and that is no failure.
  if (error.code === 'EPIPE') process.exit(exitCodes.ok);
  process.stderr.write(`Standard output cannot be written: ${error.message}\n`);
  process.exit(exitCodes.failure);
}
