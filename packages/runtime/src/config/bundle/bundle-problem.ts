/** The problems of a bundle: in the form in which checks find them, and in the form in which they are shown. */
import { type CodePlace, errorCatalogue, type ErrorCode } from '@goondan/types';

export interface BundleProblem extends CodePlace {
  readonly code: ErrorCode;
  readonly message: string;
  /** `Kind/name` of the resource with the problem, if it concerns a resource. */
  readonly resource?: string;
  /** How to fix it. */
  readonly suggestion?: string;
}

/** An error rejects the whole bundle; a warning is only shown. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly problem: BundleProblem;
}

export interface FindingDetails {
  readonly resource?: string | undefined;
  /** When absent, the suggestion of the error catalogue is used. */
  readonly suggestion?: string | undefined;
}

export function errorAt(place: CodePlace, code: ErrorCode, message: string, details: FindingDetails = {}): Finding {
  return { severity: 'error', problem: problemAt(place, code, message, details) };
}

export function warningAt(place: CodePlace, code: ErrorCode, message: string, details: FindingDetails = {}): Finding {
  return { severity: 'warning', problem: problemAt(place, code, message, details) };
}

function problemAt({ file, line, column }: CodePlace, code: ErrorCode, message: string, details: FindingDetails) {
  const { resource, suggestion = errorCatalogue[code].suggestion } = details;
  return {
    code,
    message: printable(message),
    file: printable(file),
    line,
    column,
    ...(resource === undefined ? {} : { resource: printable(resource) }),
    suggestion: printable(suggestion),
  };
}

const LONGEST = 500;

/**
 * Makes names from a bundle safe to print: escapes control characters of terminals, and cuts the text at `LONGEST`
 * characters.
 */
function printable(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return cut.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** Returns `Did you mean …?`, or a list of the known names. */
export function suggestName(meant: string | undefined, known: readonly string[]): string | undefined {
  if (meant !== undefined) return `Did you mean \`${meant}\`?`;
  if (known.length === 0) return undefined;
  const shown = known.slice(0, MOST_NAMES).join(', ');
  return `Use one of: ${shown}${known.length > MOST_NAMES ? ', …' : ''}.`;
}

const MOST_NAMES = 20;
