import type { LogLine } from '../../ports/log-line.ts';
import type { ChildOutput } from '../../ipc/spawn.ts';

/** Masks the secrets in the output of a child. */
export function maskOutput(output: ChildOutput, mask: (text: string) => string): ChildOutput {
  return output.kind === 'line' ? { ...output, text: mask(output.text) } : output;
}

/** Makes a line of the swarm's log from the output of a child. */
export function lineOfOutput(
  output: ChildOutput,
  whose: Pick<LogLine, 'agent' | 'instance' | 'connection'>,
  at: Date,
): LogLine {
  return {
    time: at.toISOString(),
    level: output.kind === 'dropped' || output.stream === 'stderr' ? 'warn' : 'info',
    message: output.kind === 'line' ? output.text : `${output.lines} lines were dropped: too many at once.`,
    ...whose,
    event: `process.${output.stream}`,
  };
}
