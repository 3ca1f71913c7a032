/**
 * Spans in OTLP's JSON encoding: ids as lower-case hexadecimal digits, times and whole numbers as texts, kinds and
 * codes as numbers. All functions are pure.
 */

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: OtlpValue }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

export type OtlpValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  /** A text, because JSON numbers cannot hold 64 bits. */
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly OtlpValue[] } };

export const spanKinds = { internal: 1, server: 2, client: 3 } as const;
export const FAILED = 2;

/**
 * Attributes by name. A plain number is exported as a whole number; a value that may be a fraction is written as `{
 * double }`. So an attribute has the same type in every span.
 */
export type Attributes = Readonly<
  Record<string, string | boolean | number | { readonly double: number } | readonly string[] | undefined>
>;

/** Converts attributes, and leaves out those that are `undefined`. */
export function toAttributes(values: Attributes): OtlpSpan['attributes'] {
  return Object.entries(values).flatMap(([key, value]) => {
    const shown = toValue(value);
    return shown === undefined ? [] : [{ key, value: shown }];
  });
}

function toValue(value: Attributes[string]): OtlpValue | undefined {
  if (value === undefined) return undefined;
  // OTLP texts are UTF-8, which cannot represent half of a surrogate pair.
  if (typeof value === 'string') return { stringValue: value.toWellFormed() };
  if (typeof value === 'boolean') return { boolValue: value };
  // A number too large to be written as plain digits is left out.
  if (typeof value === 'number') {
    return Number.isSafeInteger(Math.round(value)) ? { intValue: String(Math.round(value)) } : undefined;
  }
  if ('double' in value) return Number.isFinite(value.double) ? { doubleValue: value.double } : undefined;
  return { arrayValue: { values: value.map((text) => ({ stringValue: text.toWellFormed() })) } };
}

/** Returns the time `ms` after a date, in nanoseconds. */
export function unixNanos(moment: Date, ms = 0): string {
  return String(BigInt(moment.getTime()) * 1_000_000n + BigInt(Math.round(ms * 1_000_000)));
}

/** Makes the body of a post from spans that are already JSON. */
export function toRequest(
  resource: Attributes,
  scope: { readonly name: string; readonly version: string },
  spans: readonly string[],
) {
  const attributes = JSON.stringify(toAttributes(resource));
  const ofScope = `{"scope":${JSON.stringify(scope)},"spans":[${spans.join(',')}]}`;
  return `{"resourceSpans":[{"resource":{"attributes":${attributes}},"scopeSpans":[${ofScope}]}]}`;
}
