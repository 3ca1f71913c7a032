/** Opens the link in the person's browser, if there is one. A failure is not an error, because the link was printed. */
export function openBrowser(
  url: string,
  { platform, env }: Pick<NodeJS.Process, 'platform' | 'env'> = process,
  which: (program: string) => string | null = Bun.which,
): void {
  const opener = platform === 'darwin' ? 'open' : 'xdg-open';
  const hasDisplay = platform === 'darwin' || Boolean(env['DISPLAY']) || Boolean(env['WAYLAND_DISPLAY']);
  const path = hasDisplay ? which(opener) : null;
  if (path === null) return;
  try {
    Bun.spawn([path, url], { stdio: ['ignore', 'ignore', 'ignore'], detached: true }).unref();
  } catch {
    // The browser cannot be started, so the person opens the link.
  }
}
