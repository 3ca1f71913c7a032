/** An agent whose extensions change while it runs. */
import { scriptedAgent, type ScriptedAgentOptions } from '@goondan/runtime/testing';

type Extensions = NonNullable<ScriptedAgentOptions['extensions']>;

export async function changedAgent(options: ScriptedAgentOptions) {
  const agent = await scriptedAgent(options);
  const { openModel, policy } = agent.agent.parts.plan;
  const { script: _, store: _store, ...plan } = options;
  return {
    agent,
    /** Puts these extensions in place of the others. Those that the agent has already are retained. */
    change: async (extensions: Extensions): Promise<void> => {
      const wanted = { agentName: 'tested', modelRef: 'Model/scripted', models: openModel.entries, policy };
      await (await agent.agent.prepare({ ...wanted, ...plan, extensions })).swap();
    },
  };
}
