/** The extension `mcp`: adds the tools of one MCP server to the agent's tools. */
import type { ExtensionRegister } from '@goondan/types';
import { cleanText } from '../../text/clean-text.ts';
import { systemClock } from './clock.ts';
import { McpServer } from './mcp-server.ts';
import { type McpConfig, readSettings } from './mcp-settings.ts';
import { openClient } from './open-client.ts';

export const register: ExtensionRegister<McpConfig> = (api, config, { name }) => {
  const server = new McpServer(name, readSettings(config, name), api, {
    clock: systemClock,
    environment: process.env,
    openClient: (events) => openClient(events, (line) => api.logger.debug(`mcp.server: ${cleanText(line, 2_000)}`)),
  });
  api.pipeline.register('turn', (ctx) => server.aroundTurn(ctx), { name: 'connect' });
  api.pipeline.register('step', (ctx) => server.aroundStep(ctx), { name: 'catalog' });
  return () => server.close();
};
