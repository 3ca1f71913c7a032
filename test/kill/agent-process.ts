/**
 * Runs one agent on a real disk in a separate process, which `kill.test.ts` kills. The agent accepts one event and runs
 * its turn of ten steps. Then the program prints the transcript as JSON. A second run on the same folder continues
 * where the first one stopped.
 *
 * Every tool records its runs in a file outside of the store. This file shows which effects really happened.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelReply, ToolContext } from '@goondan/types';
import type { Model } from '../../packages/runtime/src/agent/model/model-port.ts';
// These imports name the files instead of the package, because this program is started often and must start fast.
import { startAgent } from '../../packages/runtime/src/agent/start/start-agent.ts';
import type { ToolDeclaration } from '../../packages/runtime/src/agent/tool/load-tool.ts';
import { durableStore } from '../../packages/runtime/src/workspace/journal/durable-store.ts';

const STEPS = 10;
/** The arguments are the folder of the conversation, and the folder of `counter.ts`. */
const [, , stateRoot = '', root = ''] = process.argv;
const world = join(stateRoot, 'world.log');

/**
 * A model that calls one tool after the other, whatever they return, and then answers. It is slow, so that the process
 * can be killed during a turn.
 */
const model: Model = {
  async generate({ messages }): Promise<ModelReply> {
    const done = messages.filter((message) => message.role === 'tool').length;
    appendFileSync(world, `model ${done}\n`);
    await Bun.sleep(2);
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    if (done === STEPS - 1) return { content: [{ type: 'text', text: 'All done.' }], finishReason: 'stop', usage };
    const toolName = done % 2 === 0 ? 'work__once' : 'work__again';
    const call = { type: 'tool-call', toolCallId: `call-${done}`, toolName, input: { number: done } } as const;
    return { content: [{ type: 'text', text: `Step ${done}.` }, call], finishReason: 'tool-calls', usage };
  },
};

const run = async (ctx: ToolContext, input: { number?: unknown }) => {
  appendFileSync(world, `begin ${ctx.toolCallId}\n`);
  await Bun.sleep(2);
  appendFileSync(world, `end ${ctx.toolCallId}\n`);
  return { did: Number(input.number) };
};

const parameters = { type: 'object', properties: { number: { type: 'number' } } };
const work: ToolDeclaration = {
  name: 'work',
  exports: [
    { name: 'once', description: 'Must not be repeated', parameters },
    { name: 'again', description: 'May be repeated', parameters, idempotent: true },
  ],
  handlers: { once: run, again: run },
};

const address = { agentName: 'worker', instanceKey: 'default' };
const journal = await durableStore({ stateRoot, workspaceId: 'kill', warn: () => undefined });
const agent = await startAgent(
  {
    ...address,
    models: { 'Model/worker': model },
    tools: [work],
    extensions: [
      {
        resource: {
          apiVersion: 'goondan.ai/v1',
          kind: 'Extension',
          metadata: { name: 'counter' },
          spec: { entry: './counter.ts' },
        },
        root,
      },
    ],
  },
  { store: journal, logSink: () => undefined },
);
await journal.accept(address, {
  id: 'event-1',
  type: 'user.message',
  input: 'Do ten things.',
  instanceKey: 'default',
  source: { kind: 'cli', name: 'kill' },
  traceId: 'trace-1',
  createdAt: new Date(0),
});
process.stdout.write('accepted\n');
for (const event of await journal.pending(address)) await agent.handle(event);

const { messages, extensionState } = await journal.read(address);
const transcript = messages.map(({ id, data, source }) => ({ id, data, source }));
process.stdout.write(`${JSON.stringify({ transcript, extensionState })}\n`);
await journal.close();
