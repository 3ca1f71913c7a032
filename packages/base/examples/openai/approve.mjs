import OpenAI from 'openai';

const client = new OpenAI({ baseURL: 'http://127.0.0.1:23184/v1', apiKey: process.env.CHAT_TOKEN });
const messages = [{ role: 'user', content: 'How warm is the cellar?' }];
for (;;) {
  const { choices } = await client.chat.completions.create({ model: 'porter', messages });
  const [{ message, finish_reason }] = choices;
  messages.push(message);
  if (finish_reason !== 'tool_calls') break;
  for (const { id, function: call } of message.tool_calls) {
    const { reason, tool, arguments: args } = JSON.parse(call.arguments);
    console.log(call.name, reason, tool, args);
    messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify({ decision: 'approved' }) });
  }
}
console.log(messages.at(-1).content);
