/** A tool call in short, for the people who watch: what was asked for, and why it failed. Secrets are masked first. */
import type { ToolCallError, TurnError } from '@goondan/types';
import type { Mask } from '../../log/mask-secrets.ts';

/** Characters. */
const LONGEST_ARGUMENTS = 200;
const LONGEST_TEXT = 1_000;

/** As JSON; empty when it is none. */
export function previewArguments(input: unknown, mask: Mask): string {
  try {
    return cut(mask(JSON.stringify(input) ?? ''), LONGEST_ARGUMENTS);
  } catch {
    // A layer may have given anything: it is refused where it is checked.
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

/** Masked before: half a secret would not be found any more. */
function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).toWellFormed()}…`;
}
