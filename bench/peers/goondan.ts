/**
 * Goondan's own rows: with `PEER_STORE=durable` on disk, with every sync that its promises need, otherwise in memory.
 * The program is bundled, as the program of our agent processes is.
 */
import type { AgentEvent } from '@goondan/types';
import { startAgent } from '../../packages/runtime/src/agent/start/start-agent.ts';
import { durableStore, type Journal } from '../../packages/runtime/src/history.ts';
import { instantModel, secrets, weather } from '../instant-agent.ts';
import { question, runPeer } from './run-peer.mjs';

const isDurable = process.env.PEER_STORE === 'durable';
let journal: Journal | undefined;
let conversations = 0;

await runPeer({
  async open({ steps, messages, folder }) {
    if (isDurable) journal ??= await durableStore({ stateRoot: folder, workspaceId: 'bench' });
    const conversation = await openConversation(steps, `conversation-${++conversations}`);
    // A turn of one step adds two messages.
    for (let turn = 0; turn < messages / 2; turn++) await conversation.turn();
    return conversation;
  },
  settings: async () => (isDurable ? 'every accepted input, intent and commit synced' : ''),
});

async function openConversation(steps: number, instanceKey: string) {
  const models = { 'Model/bench': instantModel(steps) };
  const plan = { agentName: 'bench', instanceKey, models, tools: [weather], secrets };
  const agent = await startAgent(plan, { ...(journal && { store: journal }), logSink: () => undefined });
  let count = 0;
  return {
    async turn() {
      const event: AgentEvent = {
        id: String(++count),
        type: 'user.message',
        input: question,
        instanceKey,
        source: { kind: 'cli', name: 'bench' },
        traceId: 'trace',
        createdAt: new Date(),
      };
      await journal?.accept(agent.parts.address, event);
      const { result } = await agent.handle(event);
      if (result.finishReason === 'error') throw new Error(result.error?.message);
    },
    async close() {
      await agent.close();
      await journal?.close(agent.parts.address);
    },
  };
}
