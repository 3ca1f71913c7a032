/** Returns the resident memory of this process in bytes, after a garbage collection. */
export function memoryInUse(): number {
  Bun.gc(true);
  return process.memoryUsage.rss();
}
