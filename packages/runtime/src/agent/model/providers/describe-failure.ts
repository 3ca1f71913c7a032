/**
 * Reads the reason of a failure from anything that a provider package throws or streams: an API error with status and
 * body, a bare error object from inside a stream, or any other error. The cases are distinguished by shape and name,
 * not by class: a stream reports plain objects, and importing the classes would load the SDK for models that do not
 * need it.
 */
export interface Failure {
  readonly status: number | undefined;
  /** The provider's own message. */
  readonly words: string;
  /** The provider's own error code and error type. */
  readonly codes: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** True when the answer is not in the provider's format. */
  readonly isGarbled: boolean;
}

const garbledSigns = new Set([
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_EmptyResponseBodyError',
  // Anthropic's package throws a plain error with this message when the first event of a stream does not parse.
  'Expected a normalized Anthropic stream error',
]);

export function describeFailure(error: unknown): Failure {
  const record = asRecord(error);
  const body = asText(record['responseBody']) ?? '';
  const told = readError(parse(body)) ?? readError(record['data']) ?? readError(record);
  const status = asNumber(record['statusCode']) ?? asNumber(record['status']) ?? asNumber(told?.status);
  const garbled = isGarbled(record, status);
  const words = told?.message ?? asText(record['message']) ?? asText(error) ?? '';
  return {
    status,
    words: (garbled && body.trim()) || words.trim() || body.trim() || 'no reason given',
    codes: [told?.code, told?.type, asText(record['type']), asText(record['code'])].filter(
      (code) => code !== undefined,
    ),
    headers: readHeaders(record['responseHeaders']),
    body,
    isGarbled: garbled,
  };
}

/**
 * Reads `{error: {message}}`, `{error: "…"}`, `{message}` and `{detail}`, alone or in a list; different providers use
 * different forms.
 */
function readError(value: unknown) {
  const outer = asRecord(Array.isArray(value) ? value[0] : value);
  const inner = asRecord(outer['error']);
  const message =
    asText(inner['message']) ?? asText(outer['error']) ?? asText(outer['message']) ?? asText(outer['detail']);
  if (message === undefined) return undefined;
  const code = inner['code'] ?? outer['code'];
  return {
    message,
    code: asText(code) ?? reasonOf(inner),
    type: asText(inner['type']) ?? asText(inner['status']) ?? asText(outer['type']),
    status: asNumber(code),
  };
}

/** Reads the reason from Google's form: `details: [{ reason: 'API_KEY_INVALID' }]`. */
function reasonOf(error: Record<string, unknown>): string | undefined {
  const details: unknown[] = Array.isArray(error['details']) ? error['details'] : [];
  return details.map((detail) => asText(asRecord(detail)['reason'])).find((reason) => reason !== undefined);
}

function isGarbled(record: Record<string, unknown>, status: number | undefined): boolean {
  const isSuccess = status === undefined || status < 300;
  const signs = [record['name'], asRecord(record['cause'])['name'], record['message']];
  return isSuccess && signs.some((sign) => typeof sign === 'string' && garbledSigns.has(sign));
}

function readHeaders(value: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(asRecord(value))) {
    if (typeof text === 'string') headers[name.toLowerCase()] = text;
  }
  return headers;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  // Safe: only own fields are read, and the type of each is checked.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function asNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && number >= 100 && number <= 599 ? number : undefined;
}
