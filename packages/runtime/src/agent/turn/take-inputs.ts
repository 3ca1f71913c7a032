/**
 * Takes the inputs that wait for a running turn, at the boundary between two steps. Each becomes a message of its sender,
 * and the commit of the turn ends its event.
 *
 * 1. A turn takes inputs only if a step follows, so the model sees them. Otherwise they have a turn of their own.
 * 2. There is no boundary inside a step, and none before a step that runs again: the calls of that step, and their
 *    results, were made without the input.
 * 3. An event that a committed turn has handled is not taken.
 */
import type { TurnInput } from '../conversation/conversation-store.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import { inputMessage, originOf } from './input-message.ts';

/** Returns the inputs that the turn takes before the step with this index. They do not wait any more. */
export function findInputs(turn: RunningTurn, beforeStep: number): readonly TurnInput[] {
  if (!mayTake(turn) || hasBegun(turn, beforeStep)) return [];
  return turn.replay?.takenBefore(beforeStep) ?? turn.waiting.next().filter((input) => isNew(turn, input));
}

/** Appends the inputs that `findInputs` returned. */
export function takeInputs(turn: RunningTurn, inputs: readonly TurnInput[], beforeStep: number): void {
  for (const input of inputs) take(turn, input, beforeStep);
}

/** Returns false if the limits of the next step's plan permit no further step. */
function mayTake({ agent, stepCount, used: { usage } }: RunningTurn): boolean {
  const { maxStepsPerTurn, maxTokensPerTurn = Number.POSITIVE_INFINITY } = agent.newestPlan().policy;
  return stepCount < maxStepsPerTurn && usage.totalTokens < maxTokensPerTurn;
}

/** Returns true if an interrupted run had begun this step. The key of an effect begins with the index of its step. */
function hasBegun({ resumed, before: { effects, intents } }: RunningTurn, stepIndex: number): boolean {
  if (!resumed) return false;
  const isOfStep = (key: string) => Number.parseInt(key, 10) === stepIndex;
  return [...effects.keys(), ...intents].some(isOfStep);
}

function isNew({ conversation, isHandled }: RunningTurn, input: TurnInput): boolean {
  const message = inputMessage(input.event);
  return message !== undefined && !isHandled(input) && conversation.get(message.id) === undefined;
}

function take(turn: RunningTurn, { seq, event }: TurnInput, beforeStep: number): void {
  const { agent, turnId, spanIds } = turn;
  const message = inputMessage(event);
  if (message === undefined) return;
  turn.conversation.appendInput(message, originOf(event), { seq, event, beforeStep });
  turn.waiting.took(event.id);
  agent.bus.tell('turn.steered', () => ({
    turnId,
    ...agent.address,
    timestamp: agent.clock.now().toISOString(),
    ...spanIds.fields,
    eventId: event.id,
    messageId: message.id,
    source: event.source,
    stepIndex: beforeStep,
  }));
}
