/** Returns hexadecimal digits. Does without `node:crypto`, whose import costs every process 7 ms. */
export function sha256(content: string | Uint8Array): string {
  return Bun.CryptoHasher.hash('sha256', content, 'hex');
}
