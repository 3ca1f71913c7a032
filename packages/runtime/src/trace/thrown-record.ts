/** Converts an error to a record, and a record to an error. */
import { GoondanError, isErrorCode } from '@goondan/types';
import { defined } from '../json/defined.ts';
import { type Mask, maskBeginning } from '../log/mask-secrets.ts';
import type { ThrownRecord } from './effect-record.ts';
import { readField } from '../json/read-field.ts';

const LONGEST = 10_000;

/** Copies the fields of an error. A text that is too long is masked and cut; the caller masks the others. */
export function recordThrown(thrown: unknown, mask: Mask): ThrownRecord {
  const cut = (text: string) =>
    text.length > LONGEST ? maskBeginning(text.slice(0, LONGEST), mask).toWellFormed() : text.toWellFormed();
  const text = (name: string) => {
    const value = readField(thrown, name);
    return typeof value === 'string' ? cut(value) : undefined;
  };
  const retryable = readField(thrown, 'retryable');
  const retryAfterMs = readField(thrown, 'retryAfterMs');
  const isFallback = readField(thrown, 'isFallback');
  return {
    message: text('message') ?? (typeof thrown === 'string' ? cut(thrown) : 'something was thrown'),
    ...defined({
      name: text('name'),
      code: text('code'),
      suggestion: text('suggestion'),
      helpUrl: text('helpUrl'),
      retryable: typeof retryable === 'boolean' ? retryable : undefined,
      retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
      failure: text('failure'),
      isFallback: typeof isFallback === 'boolean' ? isFallback : undefined,
    }),
  };
}

export function throwable({ code, message, name, ...more }: ThrownRecord): Error {
  const known = code !== undefined && isErrorCode(code);
  const error = known ? new GoondanError(code, message) : new Error(message);
  for (const [property, value] of Object.entries({ ...more, ...(known ? {} : defined({ code, name })) })) {
    Reflect.defineProperty(error, property, { value, configurable: true, writable: true, enumerable: true });
  }
  return error;
}
