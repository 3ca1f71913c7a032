/** The problems of a bundle: in the form in which checks find them, and in the form in which they are shown. */
import { type CodePlace, errorCatalogue, type ErrorCode } from '@goondan/types';
import type { ReferringResource } from './bundle.ts';
import type { Path } from './place.ts';

export interface BundleProblem extends CodePlace {
  readonly code: ErrorCode;
  readonly message: string;
  /** `Kind/name` of the resource with the problem; absent if the problem does not concern a resource. */
  readonly resource?: string;
  /** How to fix the problem. */
  readonly suggestion?: string;
}

/** An error rejects the whole bundle; a warning is only shown. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly problem: BundleProblem;
}

/**
 * Make a finding at a place. Without `suggestion`, the finding gets the suggestion of the error catalogue. `resource`:
 * `Kind/name`.
 */
export const errorAt = findingAt('error');
export const warningAt = findingAt('warning');

/** Make a finding about a resource, at the value to which `path` leads, or at the key of that value. */
export const errorIn = findingIn(errorAt);
export const warningIn = findingIn(warningAt);

function findingAt(severity: Finding['severity']) {
  return (
    { file, line, column }: CodePlace,
    code: ErrorCode,
    message: string,
    suggestion = errorCatalogue[code].suggestion,
    resource?: string,
  ): Finding => ({
    severity,
    problem: {
      code,
      message: printable(message),
      file: printable(file),
      line,
      column,
      ...(resource === undefined ? {} : { resource: printable(resource) }),
      suggestion: printable(suggestion),
    },
  });
}

function findingIn(at: ReturnType<typeof findingAt>) {
  return (
    { document, identity }: Pick<ReferringResource, 'document' | 'identity'>,
    path: Path,
    code: ErrorCode,
    message: string,
    suggestion?: string,
    part?: 'key' | 'value',
  ): Finding => at(document.placeOf(path, part), code, message, suggestion, identity);
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
