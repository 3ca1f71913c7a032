/** Returns the processor time that this process has used, for limits that also hold on a busy machine. */
export function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Measures for the given number of milliseconds which share of one processor this process uses. */
export async function shareOfProcessor(milliseconds: number): Promise<number> {
  const startedAt = performance.now();
  const before = usedMs();
  await Bun.sleep(milliseconds);
  return (usedMs() - before) / (performance.now() - startedAt);
}
