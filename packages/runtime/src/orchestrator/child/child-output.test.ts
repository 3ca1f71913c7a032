import { describe, expect, test } from 'bun:test';
import type { ChildOutput } from '../../ipc/spawn.ts';
import { maskSecrets, noSecrets } from '../../log/mask-secrets.ts';
import { systemClock } from '../../ports/clock.ts';
import { captureOutput, outputLimits } from './capture-output.ts';
import { maskOutput } from './child-output.ts';

const secret = 'TopSecretKey/987+654';

async function print(text: string, mask = maskSecrets([secret])): Promise<string[]> {
  const heard: string[] = [];
  const hear = (output: ChildOutput) => {
    const masked = maskOutput(output, mask);
    if (masked.kind === 'line') heard.push(masked.text);
  };
  const chunks = new Response(text).body ?? new ReadableStream();
  await captureOutput('stdout', chunks, new AbortController().signal, systemClock, hear);
  return heard;
}

describe('a printed line that is cut', () => {
  test('does not end with a part of a secret', async () => {
    for (let shown = 1; shown < secret.length; shown++) {
      const start = 'x'.repeat(outputLimits.longestLine - shown);
      const [line] = await print(`${start}${secret}yy\n`);
      expect(line).toBe(`${start}… (${secret.length - shown + 2} more characters)`);
    }
  });

  test('keeps its whole beginning if that is not a part of a secret', async () => {
    const start = 'x'.repeat(outputLimits.longestLine);
    expect(await print(`${start}yy\nz`)).toEqual([`${start}… (2 more characters)`, 'z']);
    expect(await print(`${start}yy`, noSecrets)).toEqual([`${start}… (2 more characters)`]);
  });
});
