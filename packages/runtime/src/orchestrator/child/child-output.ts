import type { LogLine } from '../../ports/log-line.ts';
import type { ChildOutput } from '../../ipc/spawn.ts';
import { type Mask, maskBeginning } from '../../log/mask-secrets.ts';

/** Masks the secrets in the output of a child. A line that was cut then ends with the number of missing characters. */
export function maskOutput(output: ChildOutput, mask: Mask): ChildOutput {
  if (output.kind !== 'line') return output;
  const { kind, stream, text, cutOff } = output;
  if (cutOff === undefined) return { kind, stream, text: mask(text) };
  return { kind, stream, text: `${maskBeginning(text, mask)}… (${cutOff} more characters)` };
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
