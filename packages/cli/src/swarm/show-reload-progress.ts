/** Shows the progress of a reload that takes long, to a person at a terminal. */
import type { Swarm } from '@goondan/runtime';
import type { Terminal } from '../terminal.ts';

/** How long a reload runs before its progress is shown. */
const PATIENCE_MS = 1_000;

/** Runs `reload`. Meanwhile prints the part that is on trial to standard error, if a person watches it. */
export async function showReloadProgress<Value>(
  swarm: Pick<Swarm, 'watch'>,
  terminal: Pick<Terminal, 'printError' | 'showsProgress'>,
  reload: () => Promise<Value>,
): Promise<Value> {
  if (!terminal.showsProgress) return reload();
  let latest: string | undefined;
  let isLate = false;
  const watch = await swarm.watch({ types: ['log'] }, (notice) => {
    if (notice.type !== 'log' || notice.line.event !== 'swarm.reload_progress') return;
    latest = notice.line.message;
    if (isLate) terminal.printError(`${latest}\n`);
  });
  watch.ended.catch(() => undefined);
  const timer = setTimeout(() => {
    isLate = true;
    if (latest !== undefined) terminal.printError(`${latest}\n`);
  }, PATIENCE_MS);
  try {
    return await reload();
  } finally {
    clearTimeout(timer);
    watch.end();
  }
}
