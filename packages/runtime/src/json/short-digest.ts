/** Returns the beginning of a digest, for people. */
export function shortDigest(digest: string): string {
  return digest.slice(0, 8);
}
