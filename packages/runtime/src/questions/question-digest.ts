/** Identifies everything that was asked, so that an answer is valid for nothing else. */
import type { JsonObject } from '@goondan/types';
import { digestJson } from '../json/digest-json.ts';
import { defined } from '../json/defined.ts';
import type { QuestionKind } from './question-record.ts';

export interface AskedSubject {
  readonly kind: QuestionKind;
  /** Unmasked. */
  readonly args: JsonObject;
  readonly reason: string;
  readonly schema?: JsonObject;
  readonly url?: string;
}

/** Returns the SHA-256 of the arguments, or of the form or page with its reason, in canonical JSON. */
export function questionDigest({ kind, args, reason, schema, url }: AskedSubject): string {
  if (kind === 'form' || kind === 'page') return digestJson(defined({ kind, reason, schema, url }));
  return digestJson(args);
}
