/**
 * A short preview of a tool call for watchers: its arguments, and the error if the call failed. Secrets are masked
 * before the texts are cut.
 */
import type { ToolCallError, TurnError } from '@goondan/types';
import type { Mask } from '../../log/mask-secrets.ts';

/** The maximum length in characters. */
const LONGEST_ARGUMENTS = 200;
const LONGEST_TEXT = 1_000;

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
  return {
    message: short(message),
    ...(code === undefined ? {} : { code: short(code) }),
    ...(suggestion === undefined ? {} : { suggestion: short(suggestion) }),
    ...(helpUrl === undefined ? {} : { helpUrl: short(helpUrl) }),
  };
}

/** Cuts a text. The text must be masked before, because half a secret would not be recognized. */
function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).toWellFormed()}…`;
}
