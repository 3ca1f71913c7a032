/** An agent whose conversation is in a folder: after a restart it knows the earlier messages. */
import { type RunningAgent, startAgent } from '@goondan/runtime';
import { durableStore, type Journal } from '@goondan/runtime/history';
import type { AgentEvent } from '@goondan/types';

export interface AgentOnDisk {
  /** Accepts an input, which is then never lost, and handles all inputs that have no answer yet. */
  say(id: string, input: string): Promise<void>;
  readonly agent: RunningAgent;
  readonly store: Journal;
  close(): Promise<void>;
}

export async function startOnDisk(stateRoot: string): Promise<AgentOnDisk> {
  const store = await durableStore({ stateRoot, workspaceId: 'example' });
  const agent = await startAgent(
    {
      agentName: 'parrot',
      models: {
        'Model/parrot': {
          provider: 'scripted',
          model: 'parrot',
          options: { script: [{ say: 'You said: {{input}}' }] },
        },
      },
    },
    { store },
  );
  const { address } = agent.parts;
  return {
    agent,
    store,
    async say(id, input) {
      // Inputs with the same id are the same input, so a sender that is unsure may send an input again.
      await store.accept(address, eventOf(id, input));
      for (const event of await store.pending(address)) await agent.handle(event);
    },
    async close() {
      await agent.close();
      await store.close();
    },
  };
}

function eventOf(id: string, input: string): AgentEvent {
  return {
    id,
    type: 'user.message',
    input,
    instanceKey: 'default',
    source: { kind: 'cli', name: 'example' },
    traceId: `trace-${id}`,
    createdAt: new Date(),
  };
}
