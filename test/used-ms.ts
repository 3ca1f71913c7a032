/** The processor time of this process: a limit of it holds on a busy machine, too. */
export function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
