import { expect, test } from 'bun:test';
import type { RegisteredToolOptions } from '@goondan/types';
import type { ListedTool } from './mcp-client.ts';
import { ToolNames } from './tool-names.ts';
import { ToolOffer } from './tool-offer.ts';

test('a tool is registered with its server and fingerprint, so that a person is asked again when either changes', () => {
  const registered: RegisteredToolOptions[] = [];
  const offer = (extension: string) =>
    new ToolOffer({
      extension,
      names: new ToolNames(extension, []),
      tools: { register: (_item, _handler, options = {}) => void registered.push(options) },
      logger: { info: () => undefined, warn: () => undefined },
      call: () => null,
    });
  const tool = (description: string): ListedTool => ({ name: 'read', description, inputSchema: { type: 'object' } });
  const knowledge = { approved: new Map(), trust: 'any', filter: {} } as const;
  const files = offer('files');
  files.update([tool('Reads.')], knowledge);
  offer('docs').update([tool('Reads.')], knowledge);
  // An invisible character, which the model does not get.
  offer('files').update([tool('Reads.\u200b')], knowledge);
  const servers = registered.map(({ server }) => JSON.stringify(server));
  expect(servers).toHaveLength(3);
  expect(new Set(servers).size).toBe(3);
});
