/** The AI SDK. It stores nothing: the program keeps the messages in memory. */
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';
import { sdkModel } from './sdk-model.mjs';
import { parameters, question, runPeer, toolName, toolResult } from './run-peer.mjs';

const tools = {
  [toolName]: tool({ description: 'Weather', inputSchema: jsonSchema(parameters), execute: async () => toolResult }),
};

await runPeer({
  async open({ steps, messages: length }) {
    const model = sdkModel(steps, 'v4');
    const messages = Array.from({ length }, (_, index) =>
      index % 2 === 0 ? { role: 'user', content: question } : { role: 'assistant', content: 'Sunny.' },
    );
    return {
      async turn() {
        messages.push({ role: 'user', content: question });
        const { response, text } = await generateText({ model, tools, messages, stopWhen: stepCountIs(steps + 1) });
        if (text !== 'Sunny.') throw new Error(`The answer is ${text}.`);
        messages.push(...response.messages);
      },
      close: async () => undefined,
    };
  },
});
