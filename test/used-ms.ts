/** The processor time of this process: a limit of it holds on a busy machine, too. */
export function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** The share of one processor that this process uses during the next milliseconds. */
export async function shareOfProcessor(milliseconds: number): Promise<number> {
  const startedAt = performance.now();
  const before = usedMs();
  await Bun.sleep(milliseconds);
  return (usedMs() - before) / (performance.now() - startedAt);
}
