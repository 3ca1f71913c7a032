/** The trace of whoever asks, from the header `traceparent` of W3C Trace Context; nothing when it is absent or malformed. */
export function traceParent(request: Request): { readonly traceId?: string } {
  const header = request.headers.get('traceparent') ?? '';
  const [, version, traceId, more] =
    /^([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/.exec(header) ?? [];
  // Versions to come may say more; the first one may not, and ff is none.
  if (traceId === undefined || version === 'ff' || (version === '00' && more !== undefined)) return {};
  return { traceId };
}
