import { GoondanError } from '@goondan/types';
import type { Terminal } from './terminal.ts';

/** The maximum size of an input in bytes; the control socket has the same limit. */
const LONGEST = 16_000_000;

/**
 * Reads the value of `--input`. `-` means standard input, without the line break at its end. **Errors** — `E_USAGE`
 * when the input is empty or too long.
 */
export async function readInput(input: string, { canAsk, printError }: Terminal): Promise<string> {
  if (input !== '-') return input;
  if (canAsk) printError('Type the input, then press Ctrl-D on an empty line.\n');
  return readAll(Bun.stdin.stream());
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > LONGEST) throw refuse(`has more than ${LONGEST} bytes`, 'Give the agent a file to read instead.');
    chunks.push(chunk);
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks));
  if (text.trim() === '') throw refuse('is empty', 'Pipe the text into it, or write it after `--input`.');
  // Removes the line break with which programs end their output, so that `echo hello | gdn run --input -` sends
  // `hello`.
  return text.replace(/\r?\n$/, '');
}

function refuse(problem: string, suggestion: string): GoondanError {
  return new GoondanError('E_USAGE', `Standard input ${problem}.`, { suggestion });
}
