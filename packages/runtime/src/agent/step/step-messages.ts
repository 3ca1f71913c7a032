/** Appends the messages of a step: the model's reply, and one message for each tool result. */
import {
  type JsonValue,
  type Message,
  type ModelReply,
  type ToolCallResult,
  type ToolResultOutput,
  TRUNCATED,
} from '@goondan/types';
import type { RunningStep, RunningTurn } from '../turn-state/running-turn.ts';

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
  const message: Message = {
    id,
    data: { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output: outputOf(result) }] },
    metadata: {},
    createdAt: timeOf(turn, id),
    source: { type: 'tool', toolCallId, toolName },
  };
  turn.conversation.emit(
    { type: 'append', message },
    { kind: 'tool', name: toolName, ...by(step.answeredBy.get(toolCallId)) },
    step.stepId,
  );
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

function outputOf(result: ToolCallResult): ToolResultOutput {
  if (result.status === 'error') {
    // A model cannot open the page, and would pay for its address in every step.
    const { helpUrl: _forPeople, ...error } = result.error ?? { message: 'unknown' };
    return { type: 'error-json', value: error as unknown as JsonValue };
  }
  const output = result.output ?? null;
  return typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output };
}
