// An MCP server over stdio: it reads and writes one JSON message per line.
import { createInterface } from 'node:readline';

const notes = ['Buy flour.', 'Call Ada.', 'Flour is cheaper on Fridays.'];

const search = {
  name: 'search',
  description: 'Finds the notes that hold a word.',
  inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  annotations: { readOnlyHint: true },
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'notes', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [search] }),
  'tools/call': ({ arguments: { word } }) => {
    const found = notes.filter((note) => note.toLowerCase().includes(word.toLowerCase()));
    return { content: [{ type: 'text', text: found.join(' ') }] };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  // A message without an id is a notification and gets no response.
  if (id === undefined) continue;
  const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
  const answer = run ? { result: run(params) } : { error: { code: -32601, message: `There is no method ${method}.` } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
}
