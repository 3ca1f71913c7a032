/** The extension `mcp`: adds the tools of one MCP server to the agent's tools. */
import { type ExtensionRegister, GoondanError } from '@goondan/types';
import { cleanText } from '../../text/clean-text.ts';
import { systemClock } from './clock.ts';
import { KeptClient } from './kept-client.ts';
import type { ClientEvents, McpClient } from './mcp-client.ts';
import { McpServer } from './mcp-server.ts';
import { type KeeperPlace, type McpConfig, readSettings } from './mcp-settings.ts';
import { openClient } from './open-client.ts';
import { signInDuringCalls } from './sign-in/ask-sign-in.ts';

export const register: ExtensionRegister<McpConfig> = (api, config, { name }) => {
  const settings = readSettings(config, name);
  const { keeper } = settings;
  const server = new McpServer(name, settings, api, {
    clock: systemClock,
    environment: process.env,
    signIn: signInDuringCalls(name),
    openClient: (events) =>
      keeper === undefined
        ? openClient(events, {
            onServerLine: (line) => api.logger.debug(`mcp.server: ${cleanText(line, 2_000)}`),
            onSecrets: (secrets) => api.events.emit('extension.secrets', secrets),
          })
        : openKept(keeper, events),
  });
  api.pipeline.register('turn', (ctx) => server.aroundTurn(ctx), { name: 'connect' });
  api.pipeline.register('step', (ctx) => server.aroundStep(ctx), { name: 'catalog' });
  return () => server.close();
};

async function openKept({ socket, refused }: KeeperPlace, events: ClientEvents): Promise<McpClient> {
  if (socket !== undefined) return new KeptClient(socket, systemClock, events, refused);
  throw new GoondanError('E_MCP_KEPT', refused ?? 'The swarm keeps no further connection.');
}
