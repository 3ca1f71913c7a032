/** A command in this process, and what it printed. For tests. */
import type { Command } from 'commander';
import { createProgram } from '../create-program.ts';
import { asksForJson, runCommandLine } from '../run-command-line.ts';
import { openTerminal } from '../terminal.ts';
import type { Ended } from './gdn-place.ts';

/** `columns`: on a terminal that is so wide. */
export async function runCaptured(args: readonly string[], columns?: number): Promise<Ended> {
  const printed = { stdout: '', stderr: '' };
  const into = (stream: keyof typeof printed) => (text: string, onWritten?: () => void) => {
    printed[stream] += text;
    onWritten?.();
  };
  const screen = columns === undefined ? {} : { isTTY: true, columns };
  const terminal = openTerminal({
    stdout: { write: into('stdout'), ...screen },
    stderr: { write: into('stderr'), ...screen },
    env: { NO_COLOR: '1' },
    json: asksForJson(args),
  });
  return { exitCode: await runCommandLine(args, terminal), ...printed };
}

export interface KnownCommand {
  /** Without `gdn`. */
  readonly path: readonly string[];
  readonly command: Command;
}

/** Every command of `gdn`, groups and what is in them. */
export function allCommands(): KnownCommand[] {
  const silent = { write: () => undefined };
  const program = createProgram(openTerminal({ stdout: silent, stderr: silent, env: {} }), () => undefined);
  return below(program, []);
}

function below(group: Command, path: readonly string[]): KnownCommand[] {
  return group.commands.flatMap((command) => {
    const own = [...path, command.name()];
    return [{ path: own, command }, ...below(command, own)];
  });
}
