/**
 * Mastra's agent, with its memory in libSQL. With `PEER_STORE=whole`, the model gets the whole history, as with all
 * others. With `PEER_STORE=shipped`, the model gets the last messages, which is the default of Mastra. With
 * `PEER_STORE=memory`, the whole history is in memory.
 */
import { join } from 'node:path';
import { createClient } from '@libsql/client';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { LibSQLStore } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import { z } from 'zod';
import { sdkModel } from './sdk-model.mjs';
import { question, runPeer, toolName, toolResult } from './run-peer.mjs';

const weather = createTool({
  id: toolName,
  description: 'Weather',
  inputSchema: z.object({ city: z.string() }),
  execute: async () => toolResult,
});

const isInMemory = process.env.PEER_STORE === 'memory';
const isWhole = isInMemory || process.env.PEER_STORE === 'whole';
let client;
let storage;
let threads = 0;

await runPeer({
  async open({ steps, messages, folder }) {
    storage ??= isInMemory ? new InMemoryStore() : openStore(folder);
    const memory = new Memory({ storage, ...(isWhole ? { options: { lastMessages: 100_000 } } : {}) });
    const bench = new Agent({
      id: 'bench',
      name: 'bench',
      instructions: '',
      model: sdkModel(steps, 'v2'),
      tools: { [toolName]: weather },
      memory,
    });
    const agent = new Mastra({ agents: { bench }, storage, logger: false }).getAgent('bench');
    const place = { thread: `thread-${++threads}`, resource: 'bench' };
    if (messages > 0) await fill(memory, place, messages);
    return {
      async turn() {
        const { text } = await agent.generate(question, { memory: place, maxSteps: steps + 1 });
        if (text !== 'Sunny.') throw new Error(`The answer is ${text}.`);
      },
      close: async () => undefined,
    };
  },
  async settings() {
    if (isInMemory) return '';
    const pragma = async (name) => Object.values((await client.execute(`PRAGMA ${name}`)).rows[0])[0];
    return `journal_mode=${await pragma('journal_mode')}, synchronous=${await pragma('synchronous')}, the defaults`;
  },
});

function openStore(folder) {
  client = createClient({ url: `file:${join(folder, 'mastra.db')}` });
  return new LibSQLStore({ id: 'bench', client });
}

async function fill(memory, { thread, resource }, messages) {
  await memory.createThread({ threadId: thread, resourceId: resource });
  const startedAt = Date.now() - messages * 1_000;
  for (let from = 0; from < messages; from += 500) {
    await memory.saveMessages({
      messages: Array.from({ length: Math.min(500, messages - from) }, (_, index) => {
        const text = index % 2 === 0 ? question : 'Sunny.';
        return {
          id: `${thread}-${from + index}`,
          threadId: thread,
          resourceId: resource,
          role: index % 2 === 0 ? 'user' : 'assistant',
          type: 'text',
          createdAt: new Date(startedAt + (from + index) * 1_000),
          content: { format: 2, parts: [{ type: 'text', text }], content: text },
        };
      }),
    });
  }
}
