export function launchCommand(
  bun: string,
  folder: string,
  args: readonly string[],
): { readonly command: [string, ...string[]]; readonly cwd: string };
