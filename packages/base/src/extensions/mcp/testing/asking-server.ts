/**
 * An MCP server for tests that asks people, made with the official SDK. Over stdio: `bun asking-server.ts`. It speaks the
 * protocol of 2025 and that of 2026, in which the same questions are results instead of requests.
 */
import { fromJsonSchema, inputRequired, McpServer, UrlElicitationRequiredError } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const none = fromJsonSchema({ type: 'object', properties: {} });
const labelled = fromJsonSchema<{ label: string }>({
  type: 'object',
  properties: { label: { type: 'string' } },
  required: ['label'],
});
const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] });
const branch = { type: 'string' as const, title: 'Branch', default: 'main' };
const formOf = (message: string) => ({
  message,
  requestedSchema: { type: 'object' as const, properties: { branch }, required: ['branch'] },
});

export function askingServer(): McpServer {
  const server = new McpServer({ name: 'asking', version: '1' });
  let calls = 0;

  server.registerTool('ask', { description: 'Asks.', inputSchema: labelled }, ({ label }, { mcpReq }) => {
    const { inputResponses } = mcpReq;
    if (inputResponses?.one !== undefined) return text({ label, ...inputResponses });
    return inputRequired({ inputRequests: { one: inputRequired.elicit(formOf(`Which branch for ${label}?`)) } });
  });

  server.registerTool('twice', { description: 'Asks two things.', inputSchema: none }, (_, { mcpReq }) => {
    const { inputResponses } = mcpReq;
    if (inputResponses?.one !== undefined) return text(inputResponses);
    return inputRequired({
      inputRequests: { one: inputRequired.elicit(formOf('One?')), two: inputRequired.elicit(formOf('Two?')) },
    });
  });

  server.registerTool('forever', { description: 'Asks again and again.', inputSchema: none }, () =>
    inputRequired({ inputRequests: { one: inputRequired.elicit(formOf('Again?')) } }),
  );

  server.registerTool('sample', { description: 'Asks for a model call.', inputSchema: none }, () => {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hello.' } }];
    return inputRequired({ inputRequests: { one: inputRequired.createMessage({ messages, maxTokens: 9 }) } });
  });

  // The tools below work only in the protocol of 2025.
  server.registerTool('rude', { description: 'Asks for a model call anyway.', inputSchema: none }, (_, { mcpReq }) =>
    mcpReq.send({ method: 'sampling/createMessage', params: { messages: [], maxTokens: 9 } }).then(
      () => text('it worked'),
      (error: unknown) => text(String(error)),
    ),
  );
  server.registerTool('page', { description: 'Shows a page.', inputSchema: none }, async (_, { mcpReq }) => {
    const finish = server.server.createElicitationCompletionNotifier('page-1', { relatedRequestId: mcpReq.id });
    setTimeout(() => void finish(), 50);
    const url = 'https://example.com/sign-in';
    return text(await mcpReq.elicitInput({ mode: 'url', message: 'Sign in.', url, elicitationId: 'page-1' }));
  });
  server.registerTool('needs-page', { description: 'Needs a page.', inputSchema: none }, () => {
    calls += 1;
    // Every second call works.
    if (calls % 2 === 0) return text('it worked');
    const url = 'https://example.com/connect';
    throw new UrlElicitationRequiredError([{ mode: 'url', message: 'Connect.', url, elicitationId: 'page-2' }]);
  });
  return server;
}

if (import.meta.main) serveStdio(askingServer);
