/** Sends a text word by word, at a given speed. */
import { sleep, type Clock } from '../../../ports/clock.ts';
import type { ModelRequest } from '../model-port.ts';
import { charactersPerToken } from './count-tokens.ts';

/**
 * Sends the text. Rejects with the signal's reason when it aborts, also during a wait. With 0 tokens per second, it
 * does not wait.
 */
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
      // The time of each word is computed from the start, not from the last word: timers fire late, and the delays
      // would add up.
      const dueAt = startedAt + (sentLength / charactersPerToken / tokensPerSecond) * 1000;
      const waitMs = dueAt - clock.elapsed();
      if (waitMs > 0) await sleep(clock, waitMs, request.signal);
    }
    request.signal.throwIfAborted();
    request.onDelta({ type: 'text', text: word });
    sentLength += word.length;
  }
}

/** Splits a text into words, each with the white space after it, so that joining the pieces gives the text. */
export function splitWords(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\s)(?=\S)/);
}
