/** Lines of text as compressed bytes. */

/** Compresses a text. The result is Base64, because the driver takes lists of texts but no lists of bytes. */
export async function packLines(text: string): Promise<string> {
  return (await Bun.zstdCompress(text, { level: 3 })).toString('base64');
}

/** Returns the text of a `bytea` column. */
export async function unpackLines(bytes: Uint8Array): Promise<string> {
  return (await Bun.zstdDecompress(bytes)).toString('utf8');
}
