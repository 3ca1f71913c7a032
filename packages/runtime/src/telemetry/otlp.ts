/**
 * Spans in the JSON of OTLP: ids in lower-case hexadecimal digits, times and whole numbers as texts, kinds and codes as
 * numbers. Pure.
 */

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly status: { readonly code?: number; readonly message?: string };
}

export interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

export type OtlpValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  /** 64 bits are too many for a number of JSON. */
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly OtlpValue[] } };

export const spanKinds = { internal: 1, server: 2, client: 3 } as const;
export const FAILED = 2;

/** A number is a whole one; one that need not be stands in `{ double }`, so that an attribute is always of one type. */
export type AttributeValue = string | boolean | number | { readonly double: number } | readonly string[] | undefined;

/** What is `undefined` is left out. */
export function toAttributes(values: Readonly<Record<string, AttributeValue>>): OtlpAttribute[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const shown = toValue(value);
    return shown === undefined ? [] : [{ key, value: shown }];
  });
}

function toValue(value: AttributeValue): OtlpValue | undefined {
  if (value === undefined) return undefined;
  // Half a character is none in UTF-8, which is what a collector reads.
  if (typeof value === 'string') return { stringValue: value.toWellFormed() };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return toWhole(Math.round(value));
  if ('double' in value) return Number.isFinite(value.double) ? { doubleValue: value.double } : undefined;
  return { arrayValue: { values: value.map((text) => ({ stringValue: text.toWellFormed() })) } };
}

/** One that is too large would not be written as digits alone. */
function toWhole(value: number): OtlpValue | undefined {
  return Number.isSafeInteger(value) ? { intValue: String(value) } : undefined;
}

/** `ms` after a moment of the calendar, in nanoseconds. */
export function unixNanos(moment: Date, ms = 0): string {
  return String(BigInt(moment.getTime()) * 1_000_000n + BigInt(Math.round(ms * 1_000_000)));
}

/** The body of a post: `spans` are JSON already. */
export function toRequest(
  resource: Readonly<Record<string, AttributeValue>>,
  scope: OtlpScope,
  spans: readonly string[],
) {
  const attributes = JSON.stringify(toAttributes(resource));
  const ofScope = `{"scope":${JSON.stringify(scope)},"spans":[${spans.join(',')}]}`;
  return `{"resourceSpans":[{"resource":{"attributes":${attributes}},"scopeSpans":[${ofScope}]}]}`;
}

export interface OtlpScope {
  readonly name: string;
  readonly version: string;
}
