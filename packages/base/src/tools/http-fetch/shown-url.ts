/** Formats a URL for an error message: quoted, and cut after 200 characters. */
export function shownUrl(url: string): string {
  return JSON.stringify(url.length > 200 ? `${url.slice(0, 200)}…` : url);
}
