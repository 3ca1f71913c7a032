/** For tests: what reaches a tool, and what the model gets back. */
import { extension, type ScriptedAgent } from '@goondan/runtime/testing';

/** Returns the outermost and the innermost layer of tool calls. They note the names of the tools that are called. */
export function sentinels() {
  const seen = { outer: [] as string[], inner: [] as string[] };
  const sentinel = (where: 'outer' | 'inner') =>
    extension(
      `sentinel-${where}`,
      ({ pipeline }) =>
        pipeline.register('toolCall', (ctx) => {
          seen[where].push(ctx.toolName);
          return ctx.next();
        }),
      { tier: where === 'outer' ? 'swarm' : 'hook' },
    );
  return { seen, outer: sentinel('outer'), inner: sentinel('inner') };
}

/** Returns the results of all tool calls of the conversation, in order. */
export async function toolResults(agent: Pick<ScriptedAgent, 'messages'>) {
  return (await agent.messages()).flatMap(({ data }) => (data.role === 'tool' ? data.content : []));
}
