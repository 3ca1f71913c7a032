import { expect, test } from 'bun:test';
import type { ExtensionToolsApi, JsonObject, ToolContext, ToolHandler } from '@goondan/types';
import type { Connection } from './connection.ts';
import type { McpClient } from './mcp-client.ts';
import { readSettings } from './mcp-settings.ts';
import { registerSharedTools, sharedNames } from './shared-tools.ts';

const both = { resources: true, prompts: true };

test('B-06 only features that are configured and that the server supports become tools', () => {
  const ofResources = ['list_resources', 'read_resource'] as const;
  const ofPrompts = ['list_prompts', 'get_prompt'] as const;
  expect(sharedNames(both)).toEqual([...ofResources, ...ofPrompts]);
  expect(sharedNames(both, { resources: true, prompts: false })).toEqual([...ofResources]);
  expect(sharedNames(both, { resources: false, prompts: true })).toEqual([...ofPrompts]);
  expect(sharedNames({ resources: false, prompts: true })).toEqual([...ofPrompts]);
  expect(sharedNames({ resources: true, prompts: false })).toEqual([...ofResources]);
});

test('a list for a model has no icons and no metadata of the protocol', async () => {
  const resource = { uri: 'file:///a', name: 'a' };
  const listed = { resources: [{ ...resource, icons: [{ src: 'data:' }], _meta: { secret: 1 } }] };
  const { call, asked } = register({ listResources: async () => listed });
  expect(await call('docs__list_resources', {})).toEqual({ resources: [resource] });
  // To list or to read twice does no harm.
  expect(asked).toEqual([true]);
});

/** Registers the tools of a server with all features. */
function register(client: Partial<McpClient>) {
  const handlers = new Map<string, ToolHandler>();
  const asked: (boolean | undefined)[] = [];
  const settings = readSettings({ transport: { type: 'http', url: 'http://a.example/' }, expose: both }, 'docs');
  const tools: ExtensionToolsApi = { register: ({ name }, handler) => void handlers.set(name, handler) };
  const connection: Pick<Connection, 'ask'> = {
    ask(work, { mayRepeat }) {
      asked.push(mayRepeat);
      // The cast is safe: a test calls only the methods that it gives.
      return work(client as McpClient);
    },
  };
  // The casts are safe: the tools use only `ask` of the connection, and `signal` of the context.
  registerSharedTools(
    { extension: 'docs', settings, tools, connection: connection as Connection },
    { tools: true, ...both },
  );
  const ctx = { signal: new AbortController().signal } as ToolContext;
  return { asked, call: (name: string, input: JsonObject) => handlers.get(name)?.(ctx, input) };
}
