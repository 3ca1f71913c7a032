/**
 * An MCP server over stdio for tests: `bun file-server.ts TOOLS.json`. It lists the tools in the file, and reads the
 * file again on each call of `change`. The name of a tool determines what the tool does. `count` returns the number of
 * other calls, `tally` the number of its own calls and the process. `hold` is answered when `release` is called, and `picture`
 * returns an image of as many bytes as asked for.
 */
import { readFileSync } from 'node:fs';

interface Tool {
  readonly name: string;
}

interface Request {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: Record<string, unknown>; readonly uri?: string };
}

const [, , file = ''] = process.argv;
const readTools = (): Tool[] => JSON.parse(readFileSync(file, 'utf8'));
let tools = readTools();
let calls = 0;
let tallied = 0;
const held: (number | string)[] = [];

for await (const line of console) hear(JSON.parse(line));

function hear({ id, method, params = {} }: Request): void {
  if (id === undefined) return;
  if (method === 'initialize') {
    return answer(id, {
      protocolVersion: '2025-06-18',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'file-server', version: '1' },
    });
  }
  if (method === 'ping') return answer(id, {});
  if (method === 'tools/list') return answer(id, { tools });
  if (method === 'tools/call') return call(id, params.name ?? '', params.arguments ?? {});
  send({ id, error: { code: -32_601, message: `there is no method ${method}` } });
}

function call(id: number | string, name: string, args: Record<string, unknown>): void {
  if (name === 'count') return answer(id, text(String(calls)));
  calls += 1;
  switch (name) {
    case 'hang':
      return;
    case 'die':
      process.exit(3);
      break;
    case 'change':
      tools = readTools();
      send({ method: 'notifications/tools/list_changed' });
      return answer(id, text('changed'));
    case 'tally':
      tallied += 1;
      return answer(id, text(`${tallied} ${process.pid}`));
    case 'hold':
      held.push(id);
      return;
    case 'release':
      for (const each of held.splice(0)) answer(each, text('held'));
      return answer(id, text('released'));
    case 'grandchild':
      return answer(id, text(String(Bun.spawn(['sleep', '1000'], { stdin: 'ignore' }).pid)));
    case 'picture': {
      const data = Buffer.alloc(Number(args['bytes']), 'the bytes of a cat ').toString('base64');
      return answer(id, { content: [{ type: 'image', mimeType: 'image/png', data }] });
    }
    case 'environment':
      return answer(id, { content: [], structuredContent: { ...process.env } });
    case 'fail':
      return answer(id, { ...text('it did not work'), isError: true });
    case 'refuse':
      return send({ id, error: { code: -32_000, message: 'not today' } });
    default:
      answer(id, text(`${name} ${process.pid} ${JSON.stringify(args)}`));
  }
}

function text(value: string) {
  return { content: [{ type: 'text', text: value }] };
}

function answer(id: number | string, result: unknown): void {
  send({ id, result });
}

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}
