/** The resident memory of this process in bytes, without the garbage that a busy machine has not collected yet. */
export function memoryInUse(): number {
  Bun.gc(true);
  return process.memoryUsage.rss();
}
