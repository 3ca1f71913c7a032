/** OpenAI Agents with its session in memory; the package for JavaScript has no session on disk. */
import { Agent, MemorySession, run, setTracingDisabled, tool, Usage } from '@openai/agents';
import { answersOf, parameters, question, runPeer, toolName, toolResult } from './run-peer.mjs';

setTracingDisabled(true);

const weather = tool({
  name: toolName,
  description: 'Weather',
  parameters: { ...parameters, additionalProperties: false },
  execute: async () => toolResult,
});

await runPeer({
  async open({ steps, messages }) {
    const agent = new Agent({ name: 'bench', instructions: '', model: instantModel(steps), tools: [weather] });
    const session = new MemorySession();
    if (messages > 0) {
      await session.addItems(
        Array.from({ length: messages }, (_, index) =>
          index % 2 === 0 ? { type: 'message', role: 'user', content: question } : said('Sunny.'),
        ),
      );
    }
    return {
      async turn() {
        const { finalOutput } = await run(agent, question, { session, maxTurns: steps + 1 });
        if (finalOutput !== 'Sunny.') throw new Error(`The answer is ${finalOutput}.`);
      },
      close: async () => undefined,
    };
  },
});

function instantModel(steps) {
  const next = answersOf(steps);
  return {
    async getResponse() {
      const { text, callId, city } = next();
      const call = { type: 'function_call', callId, name: toolName, arguments: JSON.stringify({ city }) };
      return {
        usage: new Usage({ inputTokens: 1, outputTokens: 1, totalTokens: 2 }),
        output: [text === undefined ? { ...call, status: 'completed' } : said(text)],
      };
    },
    getStreamedResponse() {
      throw new Error('not used');
    },
  };
}

function said(text) {
  return { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] };
}
