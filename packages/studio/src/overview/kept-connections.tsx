/**
 * Shows the kept connections. They and their servers run in processes of their own, also while the agent sleeps.
 */
import type { KeptStatus } from '@goondan/cli/studio';
import { ExtensionStates } from './extension-states.tsx';

export function KeptConnections({ kept }: { readonly kept: readonly KeptStatus[] }) {
  if (kept.length === 0) return null;
  return (
    <section>
      <h2>Kept connections</h2>
      <ExtensionStates statuses={kept.map(toStatus)} />
    </section>
  );
}

/** A keeper whose server has reported nothing yet has the problem of the keeper. */
function toStatus({ agent, extension, instanceKey, status, problem, server }: KeptStatus) {
  const whose = { extension, agentName: agent, instanceKey: instanceKey ?? '(all conversations)' };
  if (server !== undefined) return { ...server, ...whose, timestamp: server.since };
  const state = problem !== undefined ? 'failed' : status === 'starting' ? 'connecting' : 'idle';
  return { state, ...whose, ...(problem === undefined ? {} : { problem }) } as const;
}
