/**
 * LangChain's agent on LangGraph, with the SQLite checkpointer. With `PEER_STORE=synced`, a checkpoint is stored before
 * the next step begins, and SQLite syncs every commit. With `PEER_STORE=shipped`, both have their defaults. With
 * `PEER_STORE=memory`, checkpoints are in memory.
 */
import { join } from 'node:path';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { tool } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { createAgent } from 'langchain';
import { answersOf, parameters, question, runPeer, toolName, toolResult } from './run-peer.mjs';

const isSynced = process.env.PEER_STORE === 'synced';
const isInMemory = process.env.PEER_STORE === 'memory';

class InstantModel extends BaseChatModel {
  constructor(next) {
    super({});
    this.next = next;
  }

  _llmType() {
    return 'bench';
  }

  bindTools() {
    return this;
  }

  async _generate() {
    const { text, callId, city } = this.next();
    const tool_calls = text === undefined ? [{ type: 'tool_call', id: callId, name: toolName, args: { city } }] : [];
    const message = new AIMessage({ content: text ?? '', tool_calls });
    return { generations: [{ text: text ?? '', message }] };
  }
}

const weather = tool(async () => JSON.stringify(toolResult), {
  name: toolName,
  description: 'Weather',
  schema: parameters,
});

let saver;
let threads = 0;

await runPeer({
  async open({ steps, messages, folder }) {
    saver ??= isInMemory ? new MemorySaver() : openSaver(folder);
    const agent = createAgent({ model: new InstantModel(answersOf(steps)), tools: [weather], checkpointer: saver });
    const config = {
      configurable: { thread_id: `thread-${++threads}` },
      recursionLimit: 100,
      ...(isSynced ? { durability: 'sync' } : {}),
    };
    if (messages > 0) {
      const earlier = Array.from({ length: messages }, (_, index) =>
        index % 2 === 0 ? new HumanMessage(question) : new AIMessage('Sunny.'),
      );
      await agent.graph.updateState(config, { messages: earlier });
    }
    return {
      async turn() {
        const state = await agent.invoke({ messages: [new HumanMessage(question)] }, config);
        const answer = state.messages.at(-1)?.content;
        if (answer !== 'Sunny.') throw new Error(`The answer is ${answer}.`);
      },
      close: async () => undefined,
    };
  },
  settings: () => {
    if (isInMemory) return '';
    const pragma = (name) => saver.db.pragma(name, { simple: true });
    const durability = isSynced ? 'sync' : 'async, the default';
    return `journal_mode=${pragma('journal_mode')}, synchronous=${pragma('synchronous')}, durability: ${durability}`;
  },
});

function openSaver(folder) {
  const opened = SqliteSaver.fromConnString(join(folder, 'checkpoints.sqlite'));
  if (isSynced) opened.db.pragma('synchronous = FULL');
  return opened;
}
