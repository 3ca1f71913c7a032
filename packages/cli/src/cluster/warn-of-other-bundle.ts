import { packBundle } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';
import { harmlessText } from '../harmless-text.ts';
import type { PreparedRun } from '../run/prepare-run.ts';
import type { Terminal } from '../terminal.ts';
import { keptOutOf } from './kept-out.ts';

/**
 * Warns when a running node answers with another bundle than that of the folder. Does nothing for a swarm on files.
 * **Errors** — those of the store.
 */
export async function warnOfOtherBundle(
  { cluster, bundle, key, stateRoot }: Pick<PreparedRun, 'cluster' | 'bundle' | 'key' | 'stateRoot'>,
  terminal: Terminal,
): Promise<void> {
  if (cluster === undefined) return;
  const deployed = await (await cluster.open()).deployments(key).current();
  if (deployed === undefined) return;
  try {
    if (packBundle(bundle.folder, keptOutOf(cluster, [stateRoot])).digest === deployed.digest) return;
  } catch (error) {
    // A folder that cannot be deployed is not the deployed one.
    if (!GoondanError.is(error)) throw error;
  }
  const how = terminal.suggest('`gdn deploy` deploys it.');
  terminal.printError(
    `warn: The folder ${harmlessText(bundle.folder)} has another bundle than the deployed one, which answers. ${how}\n`,
  );
}
