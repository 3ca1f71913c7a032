/**
 * Appends the messages of a step: the model's reply, one message for each tool result, the answer of the turn if the model
 * gave it with a tool, and the problems of a wrong answer.
 */
import {
  createUserMessage,
  isToolContent,
  EDITED,
  type JsonObject,
  type JsonValue,
  type Message,
  type ModelReply,
  type ToolCallResult,
  type ToolResultOutput,
  TRUNCATED,
} from '@goondan/types';
import { FINISH_TOOL } from '../../config/tool-name.ts';
import { defined } from '../../json/defined.ts';
import type { PersonsChange, RunningStep, RunningTurn } from '../turn-state/running-turn.ts';

/** Appends the reply and returns the stored message, or `undefined` when the reply is empty. */
export function appendReply(turn: RunningTurn, step: RunningStep, reply: ModelReply): Message | undefined {
  if (!reply.content.some(hasOwnMessage)) return undefined;
  step.replyId = `${step.stepId}.reply`;
  const message: Message = {
    id: step.replyId,
    data: { role: 'assistant', content: reply.content },
    // Marks the message as incomplete, for programs that display it later.
    metadata: reply.finishReason === 'length' ? { [TRUNCATED]: true } : {},
    createdAt: timeOf(turn, step.replyId),
    source: { type: 'assistant', stepId: step.stepId },
  };
  turn.conversation.emit(
    { type: 'append', message },
    { kind: 'model', ref: step.modelRef, ...by(step.repliedBy) },
    step.stepId,
  );
  return turn.conversation.get(step.replyId);
}

export function appendToolResult(turn: RunningTurn, step: RunningStep, result: ToolCallResult, number: number): void {
  const { toolCallId, toolName } = result;
  const id = `${step.stepId}.result-${number}`;
  const change = step.changedBy.get(toolCallId);
  const message: Message = {
    id,
    data: {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId, toolName, output: tellChange(outputOf(result), change) }],
    },
    // For people and programs that show the history.
    metadata: change === undefined ? {} : { [EDITED]: { ...change } },
    createdAt: timeOf(turn, id),
    source: { type: 'tool', toolCallId, toolName },
  };
  const answeredBy = by(step.answeredBy.get(toolCallId));
  const changed = change === undefined ? {} : defined({ changedBy: change.by ?? 'a person', changedVia: change.via });
  // The tool of the runtime has no code of a bundle: its result is the runtime's own judgement, unless a layer gave one.
  const isOwn = toolName === FINISH_TOOL && answeredBy.answeredBy === undefined;
  const author = isOwn
    ? ({ kind: 'runtime' } as const)
    : ({ kind: 'tool', name: toolName, ...answeredBy, ...changed } as const);
  turn.conversation.emit({ type: 'append', message }, author, step.stepId);
}

/** Appends the answer that the model gave with `output__finish`, as JSON text. It is the reply of the step from now on. */
export function appendAnswer(turn: RunningTurn, step: RunningStep, answer: JsonValue): void {
  step.replyId = `${step.stepId}.answer`;
  const message: Message = {
    id: step.replyId,
    data: { role: 'assistant', content: JSON.stringify(answer) },
    metadata: {},
    createdAt: timeOf(turn, step.replyId),
    source: { type: 'assistant', stepId: step.stepId },
  };
  const author = { kind: 'model', ref: step.modelRef, ...by(step.repliedBy) } as const;
  turn.conversation.emit({ type: 'append', message }, author, step.stepId);
}

/** Appends the text that sends a wrong answer back to the model. */
export function appendCorrection(turn: RunningTurn, step: RunningStep, correction: string): void {
  const id = `${step.stepId}.correction`;
  const source = { type: 'system' } as const;
  const message = createUserMessage(correction, {}, { id, createdAt: timeOf(turn, id), source });
  turn.conversation.emit({ type: 'append', message }, { kind: 'runtime' }, step.stepId);
}

function by(extension: string | undefined): { readonly answeredBy?: string } {
  return extension === undefined ? {} : { answeredBy: extension };
}

function timeOf({ replay, agent }: RunningTurn, messageId: string): Date {
  return replay?.timeOf(messageId) ?? agent.clock.now();
}

function hasOwnMessage(part: ModelReply['content'][number]): boolean {
  return part.type !== 'text' || part.text !== '';
}

/** Tells the model that a person changed the arguments, before the result. */
function tellChange(output: ToolResultOutput, change: PersonsChange | undefined): ToolResultOutput {
  if (change === undefined) return output;
  const said = `${change.by ?? 'A person'} changed the arguments of this call to ${JSON.stringify(change.args)}.`;
  const note = { type: 'text', text: said } as const;
  switch (output.type) {
    case 'text':
      return { type: 'content', value: [note, { type: 'text', text: output.value }] };
    case 'json':
      return { type: 'content', value: [note, { type: 'text', text: JSON.stringify(output.value) }] };
    case 'content':
      return { ...output, value: [note, ...output.value] };
    case 'error-json':
      return { ...output, value: { ...(output.value as JsonObject), changed: said } };
    default:
      return output;
  }
}

function outputOf(result: ToolCallResult): ToolResultOutput {
  // The answer itself is in the arguments of the call, and in the message that follows.
  if (result.status === 'ok' && result.toolName === FINISH_TOOL) return { type: 'text', value: 'Received.' };
  if (result.status === 'error') {
    // A model cannot open the page, and would pay for its address in every step.
    const { helpUrl: _forPeople, ...error } = result.error ?? { message: 'unknown' };
    return { type: 'error-json', value: error as unknown as JsonValue };
  }
  const output = result.output ?? null;
  if (isToolContent(output)) return output;
  return typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output };
}
