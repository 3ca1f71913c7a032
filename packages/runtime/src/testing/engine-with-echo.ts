/** An agent that repeats its input, for tests of calls between agents. */
import { createAssistantMessage, type TurnResult } from '@goondan/types';
import { systemClock } from '../ports/clock.ts';
import { inProcessEngine } from './index.ts';

export const answer = (text: string): TurnResult => ({
  turnId: 'turn-x',
  finishReason: 'text_response',
  responseMessage: createAssistantMessage(text),
});

/** Creates an engine with one agent that repeats its input. */
export function engineWithEcho(): ReturnType<typeof inProcessEngine> {
  const engine = inProcessEngine(systemClock);
  engine.add('echo', async (event) => answer(`echo: ${event.input ?? 'nothing'}`));
  return engine;
}
