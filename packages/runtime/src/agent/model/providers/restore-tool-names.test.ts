import { expect, test } from 'bun:test';
import type { ModelMessage, ToolCallPart } from '@goondan/types';
import { toProviderName } from '../../tool/provider-tool-name.ts';
import { restoreToolNames } from './restore-tool-names.ts';

const call = (toolName: string, more: Partial<ToolCallPart> = {}): ToolCallPart => ({
  type: 'tool-call',
  toolCallId: 'c',
  toolName,
  input: {},
  ...more,
});
const messages: ModelMessage[] = [
  { role: 'assistant', content: 'old_tool' },
  { role: 'assistant', content: [call('old.tool'), call(toProviderName('look up'))] },
];
const tools = [{ name: 'look up', description: 'Looks it up.' }];
const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

test.each([
  ['an offered tool', call(toProviderName('look up')), 'look up'],
  ['a tool that only the conversation names', call(toProviderName('old.tool')), 'old.tool'],
  ['the own name of a tool', call('look up'), 'look up'],
  ['an unknown tool', call('other_tool'), 'other_tool'],
  [
    'a tool that the provider runs itself',
    call(toProviderName('look up'), { providerExecuted: true }),
    toProviderName('look up'),
  ],
])('the name of a call in a reply: %s', (_title, part, toolName) => {
  const reply = restoreToolNames({ content: [part], finishReason: 'tool-calls', usage }, { tools, messages });
  expect(reply.content).toEqual([{ ...part, toolName }]);
});
