import { expect, test } from 'bun:test';
import type { AgentEvent } from '@goondan/types';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { extension, fakeApprover, scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import { beforeNext, oneLayer } from '../../testing/one-layer.ts';
import type { EventAuthor } from '../conversation/conversation-store.ts';
import { recordingStore } from '../../testing/turn-records.ts';

const dice: ToolDeclaration = {
  name: 'dice',
  exports: [{ name: 'roll', description: 'Rolls.', parameters: { type: 'object' } }],
  handlers: { roll: () => 6 },
};

/** Returns the authors of the changes in the log of one turn. */
async function authorsOf(event: Partial<AgentEvent>, options: ScriptedAgentOptions = {}): Promise<EventAuthor[]> {
  const { store, records } = recordingStore();
  const tested = await scriptedAgent({ ...options, store });
  await tested.say('hi', { event });
  await tested.close();
  return records.flatMap((record) => (record.type === 'message' ? [record.author] : []));
}

test.each([
  [{ kind: 'cli', name: 'control' }, {}, { kind: 'cli', name: 'control' }],
  [{ kind: 'connector', name: 'telegram' }, {}, { kind: 'connector', name: 'telegram' }],
  [{ kind: 'agent', name: 'boss' }, {}, { kind: 'agent', name: 'boss' }],
  [
    { kind: 'agent', name: 'boss' },
    { callChain: ['first', 'second'].map((instanceKey) => ({ agentName: 'boss', instanceKey })) },
    { kind: 'agent', name: 'boss', instanceKey: 'second' },
  ],
] as const)('the input names its sender: %p', async (source, more, from) => {
  const [input, model] = await authorsOf({ source, ...more });
  expect(input).toEqual({ kind: 'input', from });
  expect(model).toEqual({ kind: 'model', ref: 'Model/scripted' });
});

test('a reply names its model, also when a layer chose another one', async () => {
  const chooser = beforeNext('chooser', 'model', (ctx) => {
    ctx.modelRef = 'Model/other';
  });
  const other = { provider: 'scripted', model: 'other', options: { script: [{ say: 'from the other' }] } };
  const authors = await authorsOf({}, { extensions: [chooser], models: { 'Model/other': other } });
  expect(authors.at(-1)).toEqual({ kind: 'model', ref: 'Model/other' });
});

test('a reply and a result that a layer returned itself name its extension, and neither model nor tool is called', async () => {
  const cache = extension('cache', ({ pipeline }) => {
    let asked = 0;
    const call = { type: 'tool-call', toolCallId: 'model', toolName: 'dice__roll', input: {} } as const;
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    pipeline.register(
      'model',
      async (ctx) => (asked++ > 0 ? ctx.next() : { content: [call], finishReason: 'tool-calls', usage }),
      { mayShortCircuit: true },
    );
  });
  const guard = oneLayer(
    'guard',
    'toolCall',
    async ({ toolCallId, toolName }) => ({ toolCallId, toolName, status: 'error', error: { message: 'No.' } }),
    { mayShortCircuit: true },
  );
  const authors = await authorsOf({}, { extensions: [cache, guard], tools: [dice] });
  expect(authors.slice(1)).toEqual([
    { kind: 'model', ref: 'Model/scripted', answeredBy: 'cache' },
    { kind: 'tool', name: 'dice__roll', answeredBy: 'guard' },
    { kind: 'model', ref: 'Model/scripted' },
  ]);
});

test('a result names the person who changed the arguments of its call, and their door', async () => {
  const asking = beforeNext('asking', 'toolCall', (ctx) => ctx.approval.ask({ reason: 'It rolls.' }));
  const approver = fakeApprover(() => ({ decision: 'approved', by: 'ann', via: 'chat', args: { sides: 6 } }));
  const script = [{ when: 'hi', call: { tool: 'dice__roll' } }, { say: 'done' }];
  const authors = await authorsOf({}, { script, extensions: [asking], tools: [dice], approver });
  expect(authors[2]).toEqual({ kind: 'tool', name: 'dice__roll', changedBy: 'ann', changedVia: 'chat' });
});
