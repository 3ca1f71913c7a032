/** Returns the processor time that this process has used, for limits that also hold on a busy machine. */
export function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Returns the share of one processor that this process uses during the next milliseconds. */
export async function shareOfProcessor(milliseconds: number): Promise<number> {
  const startedAt = performance.now();
  const before = usedMs();
  await Bun.sleep(milliseconds);
  return (usedMs() - before) / (performance.now() - startedAt);
}
