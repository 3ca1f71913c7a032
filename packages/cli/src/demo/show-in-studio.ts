/** `gdn demo --studio`: asks the demo question and shows the running swarm in a browser, until it is interrupted. */
import type { ExitCode } from '../exit-codes.ts';
import { runStudio } from '../studio/run-studio.ts';
import type { Terminal } from '../terminal.ts';
import type { runDemo } from './run-demo.ts';
import { demoBundle, startDemoSwarm } from './start-demo-swarm.ts';

/**
 * Does not ask at the terminal: calls that need approval wait for an answer in Studio. **Errors** — those of `runDemo`
 * and `runStudio`.
 */
export async function showInStudio(
  { input, json, opensBrowser }: Parameters<typeof runDemo>[0] & { readonly opensBrowser: boolean },
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { control, stateRoot, remove } = await startDemoSwarm(terminal, signal);
  try {
    await control.deliver({ input, client: 'gdn' });
    return await runStudio({ bundle: demoBundle, stateRoot, json, opensBrowser }, terminal);
  } finally {
    await remove();
  }
}
