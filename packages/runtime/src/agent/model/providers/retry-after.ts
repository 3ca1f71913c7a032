/**
 * Reads how long to wait before a retry, in milliseconds: from the headers of the provider's answer, or, for Google,
 * from its body.
 */
export function retryAfter(headers: Readonly<Record<string, string>>, body: string, now: Date): number | undefined {
  return (
    fromMilliseconds(headers['retry-after-ms']) ?? fromSecondsOrDate(headers['retry-after'], now) ?? fromBody(body)
  );
}

function fromMilliseconds(text: string | undefined): number | undefined {
  return atLeastZero(text === undefined || text.trim() === '' ? NaN : Number(text));
}

function fromSecondsOrDate(text: string | undefined, now: Date): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  // Only a date has letters. `Date.parse` would also accept a number, as a year.
  if (/[a-z]/i.test(text)) return atLeastZero(Math.max(0, Date.parse(text) - now.getTime()));
  return atLeastZero(Number(text) * 1000);
}

/** Reads the delay from Google's form: `"retryDelay": "34.07s"` inside `google.rpc.RetryInfo`. */
function fromBody(body: string): number | undefined {
  const found = /"retryDelay"\s*:\s*"([\d.]+)s"/.exec(body);
  return found?.[1] === undefined ? undefined : atLeastZero(Number(found[1]) * 1000);
}

function atLeastZero(ms: number): number | undefined {
  return Number.isFinite(ms) && ms >= 0 ? Math.round(ms) : undefined;
}
