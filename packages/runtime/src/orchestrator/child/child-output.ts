import type { LogLine } from '../../ports/log-line.ts';
import type { ChildOutput } from '../../ipc/spawn.ts';

/** The output of a child, without secrets. */
export function maskOutput(output: ChildOutput, mask: (text: string) => string): ChildOutput {
  return output.kind === 'line' ? { ...output, text: mask(output.text) } : output;
}

/** What a child printed, as a line of the swarm's log. */
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
