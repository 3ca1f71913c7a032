/**
 * An MCP server over stdio for tests, made with the official SDK: `bun counting-server.ts`. `count` counts its calls and
 * tells its process. `hold` answers when `release` is called, or never if it is cancelled. `held` lists both.
 */
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

const server = new McpServer({ name: 'counting', version: '1' }, { capabilities: { tools: {} } });
const none = fromJsonSchema({ type: 'object', properties: {} });
const labelled = fromJsonSchema<{ label: string }>({
  type: 'object',
  properties: { label: { type: 'string' } },
  required: ['label'],
});
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

let calls = 0;
const waiting = new Map<string, () => void>();
const cancelled: string[] = [];

server.registerTool('count', { description: 'Counts.', inputSchema: none }, () => {
  calls += 1;
  return text(`${calls} ${process.pid}`);
});

server.registerTool('hold', { description: 'Waits.', inputSchema: labelled }, async ({ label }, { mcpReq }) => {
  const released = Promise.withResolvers<void>();
  waiting.set(label, released.resolve);
  mcpReq.signal.addEventListener('abort', () => {
    waiting.delete(label);
    cancelled.push(label);
  });
  const { progressToken } = mcpReq['_meta'] ?? {};
  if (progressToken !== undefined) {
    const params = { progressToken, progress: 1, message: `progress of ${label}` };
    await mcpReq.notify({ method: 'notifications/progress', params });
  }
  await released.promise;
  return text(`answer to ${label}`);
});

server.registerTool('release', { description: 'Answers all.', inputSchema: none }, () => {
  for (const answer of waiting.values()) answer();
  waiting.clear();
  return text('released');
});

server.registerTool('held', { description: 'Lists.', inputSchema: none }, () =>
  text(JSON.stringify({ waiting: [...waiting.keys()].toSorted(), cancelled })),
);

server.registerTool('die', { description: 'Ends.', inputSchema: none }, () => process.exit(3));

await server.connect(new StdioServerTransport());
