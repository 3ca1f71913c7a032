import type { ChildOutput } from '../../ipc/spawn.ts';

/** What a child printed, without secrets. */
export function maskOutput(output: ChildOutput, mask: (text: string) => string): ChildOutput {
  return output.kind === 'line' ? { ...output, text: mask(output.text) } : output;
}
