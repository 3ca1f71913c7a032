/** The headers of every response. There are no CORS headers, because no other page may use Studio. */
const headers: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Adds the headers. A response is not cached, unless its own headers allow that. */
export function protect(response: Response, port: number): Response {
  response.headers.set('Content-Security-Policy', policyFor(port));
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  if (!response.headers.has('Cache-Control')) response.headers.set('Cache-Control', 'no-store');
  return response;
}

function policyFor(port: number): string {
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    // Lists the WebSocket addresses, because not every browser includes them in 'self'.
    `connect-src 'self' ws://127.0.0.1:${port} ws://localhost:${port}`,
    `img-src 'self' data:`,
    `font-src 'self'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');
}
