/**
 * A short preview of a tool call for watchers: its arguments, and the error if the call failed. Secrets are masked
 * before the texts are cut.
 */
import type { ToolCallError, TurnError } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import type { Mask } from '../../log/mask-secrets.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import type { RunningToolCall } from './running-tool-call.ts';

/** The maximum length of the arguments in a preview, in characters. */
const LONGEST_ARGUMENTS = 200;
const LONGEST_TEXT = 1_000;

/** The fields of a call that runtime events show. */
export type PreviewedCall = Pick<RunningToolCall, 'toolCallId' | 'toolName' | 'step' | 'spanIds' | 'preview'>;

/** Describes a call for runtime events. */
export function previewCall({ agent, turnId }: RunningTurn, call: PreviewedCall) {
  const { toolCallId, toolName, step, spanIds } = call;
  return {
    toolCallId,
    toolName,
    args: call.preview(),
    stepId: step?.stepId ?? turnId,
    turnId,
    agentName: agent.address.agentName,
    timestamp: agent.clock.now().toISOString(),
    ...spanIds.fields,
  };
}

/** Returns the arguments as JSON; empty when they are not JSON. */
export function previewArguments(input: unknown, mask: Mask): string {
  try {
    return cut(mask(JSON.stringify(input) ?? ''), LONGEST_ARGUMENTS);
  } catch {
    // A layer may have passed any value; the validation of the arguments rejects it later.
    return '';
  }
}

export function previewError({ message, code, suggestion, helpUrl }: ToolCallError, mask: Mask): TurnError {
  const short = (text: string) => cut(mask(text), LONGEST_TEXT);
  const shortIfAny = (text: string | undefined) => (text === undefined ? undefined : short(text));
  const more = { code: shortIfAny(code), suggestion: shortIfAny(suggestion), helpUrl: shortIfAny(helpUrl) };
  return { message: short(message), ...defined(more) };
}

/** Cuts a text. Secrets must be masked before the cut, because half a secret would not be recognized. */
function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).toWellFormed()}…`;
}
