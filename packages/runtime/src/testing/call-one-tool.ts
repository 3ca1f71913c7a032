import type { JsonValue, ModelReply, ToolCallResult } from '@goondan/types';
import { oneLayer } from './one-layer.ts';
import { scriptedAgent, type ScriptedAgentOptions } from './scripted-agent.ts';

/**
 * Runs a turn in which the model calls this tool once, with any arguments, and then answers. Returns the result of the
 * call, with the agent and the turn. Throws if the turn does not continue after the call.
 */
export async function callOneTool(toolName: string, input: JsonValue, options: ScriptedAgentOptions) {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const replies: ModelReply[] = [
    { content: [{ type: 'tool-call', toolCallId: 'call_1', toolName, input }], finishReason: 'tool-calls', usage },
    { content: [{ type: 'text', text: 'done' }], finishReason: 'stop', usage },
  ];
  const results: ToolCallResult[] = [];
  const watcher = oneLayer('watcher', 'step', async (ctx) => {
    const step = await ctx.next();
    results.push(...step.toolResults);
    return step;
  });
  const agent = await scriptedAgent({
    model: { generate: async () => replies.shift() ?? Promise.reject(new Error('asked too often')) },
    ...options,
    extensions: [watcher, ...(options.extensions ?? [])],
  });
  const turn = await agent.say('go');
  const [result, ...others] = results;
  if (turn.text !== 'done' || turn.result.finishReason !== 'text_response') {
    throw new Error(`The turn failed: ${JSON.stringify(turn.result)}`);
  }
  if (result === undefined || others.length > 0) throw new Error(`The tool has ${results.length} results.`);
  return { result, agent, turn };
}
