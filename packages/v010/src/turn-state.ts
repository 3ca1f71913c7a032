/** The state of a running turn that the layers of all old extensions share. */
import type { Message, StepMiddlewareContext, ToolCallResult, TurnMiddlewareContext } from '@goondan/types';
import type { ContextBlock, OldMessageState, OldStep, OldToolResult, OldTurn } from './old-types.ts';
import { toOldResult } from './tool-result.ts';

/** A layer context that can read and change the conversation. */
export type Powers = TurnMiddlewareContext | StepMiddlewareContext;

export interface StepState {
  readonly ctx: StepMiddlewareContext;
  readonly step: OldStep;
  /** The context of the step, as the last function left it. */
  fields: object;
  readonly systemPrompt: () => string | undefined;
  /** The blocks that the functions left after `step.blocks`; undefined if nobody read them. */
  blocks?: readonly ContextBlock[];
  /** The failure of the model call. */
  failure?: { readonly thrown: unknown };
}

export class TurnState {
  readonly turnId: string;
  readonly turn: OldTurn;
  /** The chains that the first member runs now. The other members pass these chains on. */
  readonly running = new Set<string>();
  /** The context of the turn, as the last function left it. */
  fields: object = {};
  step: StepState | undefined;
  /** The number of model calls in a row that failed. */
  failures = 0;
  #turnPowers: Powers | undefined;

  constructor(ctx: { readonly turnId: string }) {
    this.turnId = ctx.turnId;
    this.turn = { id: ctx.turnId, input: '', messageState: noMessages(), toolResults: [] };
  }

  /** Fills in the turn from the context of a turn or step layer. */
  open(ctx: Powers): void {
    const event = 'inputEvent' in ctx ? ctx.inputEvent : ctx.turn.inputEvent;
    if ('inputEvent' in ctx) this.#turnPowers = ctx;
    const { id, type, source, metadata, auth } = event;
    const origin = { eventId: id, type, source: { ...source }, ...(metadata === undefined ? {} : { metadata }) };
    Object.assign(this.turn, { origin, ...(auth === undefined ? {} : { auth }) });
    this.turn.input = this.inputText(ctx) ?? event.input ?? '';
  }

  /** Puts the results of earlier steps and of this one into the turn, in the order in which the model asked. */
  setResults(...results: readonly (readonly ToolCallResult[])[]): void {
    this.turn.toolResults.splice(0, Infinity, ...results.flat().map(toOldResult));
  }

  addResult(result: OldToolResult): void {
    this.turn.toolResults.push(result);
  }

  /** The context through which messages are read and changed: that of the running step, or else that of the turn. */
  get powers(): Powers | undefined {
    return this.step?.ctx ?? this.#turnPowers;
  }

  /** Returns the message with the input of the turn. */
  findInput({ conversationState }: Powers): Message | undefined {
    const appended = conversationState.events.find(
      (event) => event.type === 'append' && event.message.source.type === 'user',
    );
    if (appended?.type !== 'append') return undefined;
    return conversationState.nextMessages.find(({ id }) => id === appended.message.id);
  }

  inputText(ctx: Powers): string | undefined {
    const content = this.findInput(ctx)?.data.content;
    return typeof content === 'string' ? content : undefined;
  }
}

function noMessages(): OldMessageState {
  return { baseMessages: [], events: [], nextMessages: [] };
}
