/** Sends a text word by word, as fast as it is told to. */
import { sleep, type Clock } from '../../../ports/clock.ts';
import type { ModelRequest } from '../model-port.ts';
import { charactersPerToken } from './count-tokens.ts';

/** Rejects with the signal's reason once it aborts, also in the middle of a wait. 0 tokens per second: no waiting. */
export async function streamText(
  text: string,
  tokensPerSecond: number,
  request: Pick<ModelRequest, 'onDelta' | 'signal'>,
  clock: Clock,
): Promise<void> {
  const startedAt = clock.elapsed();
  let sentLength = 0;
  for (const word of splitWords(text)) {
    if (tokensPerSecond > 0) {
      // Due since the start, not since the last word: timers are late, and lateness would add up.
      const dueAt = startedAt + (sentLength / charactersPerToken / tokensPerSecond) * 1000;
      const waitMs = dueAt - clock.elapsed();
      if (waitMs > 0) await sleep(clock, waitMs, request.signal);
    }
    request.signal.throwIfAborted();
    request.onDelta({ type: 'text', text: word });
    sentLength += word.length;
  }
}

/** Each word with the white space after it, so that the pieces put together are the text. */
export function splitWords(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\s)(?=\S)/);
}
