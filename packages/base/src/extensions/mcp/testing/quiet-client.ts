import type { ClientEvents, McpClient } from '../mcp-client.ts';
import { openClient } from '../open-client.ts';

/** Opens a client whose events nobody hears, but those of the test. */
export function openQuietClient(events: Partial<ClientEvents> = {}): Promise<McpClient> {
  const quiet = () => undefined;
  return openClient(
    { onToolsChanged: quiet, onClosed: quiet, onTrouble: quiet, onRefused: quiet, ...events },
    { onServerLine: quiet, onSecrets: quiet },
  );
}
