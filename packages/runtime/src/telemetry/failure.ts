/** Converts an error to the attributes and the status of a span. */
import type { Mask } from '../log/mask-secrets.ts';
import { shortenMasked } from '../log/shorten-masked.ts';
import { FAILED, type OtlpSpan } from './otlp.ts';
import { nameText } from './turn-place.ts';
import { readField } from '../json/read-field.ts';

const LONGEST_MESSAGE = 1_000;

/** Returns the error's code, or else the name of the error. */
export function errorType(thrown: unknown, mask: Mask): string {
  const code: unknown = readField(thrown, 'code');
  if (typeof code === 'string' && code !== '') return nameText(code, mask);
  const name: unknown = readField(thrown, 'name');
  return typeof name === 'string' && name !== '' ? nameText(name, mask) : '_OTHER';
}

/**
 * Makes the status of a failed span. The message may quote contents, so it is included only if `hasContent` is true.
 */
export function failedStatus(thrown: unknown, mask: Mask, hasContent: boolean): OtlpSpan['status'] {
  const message: unknown = readField(thrown, 'message');
  if (!hasContent || typeof message !== 'string') return { code: FAILED };
  return { code: FAILED, message: shortenMasked(mask)(message, LONGEST_MESSAGE).toWellFormed() };
}
