import { expect, test } from 'bun:test';
import type { AgentEvent } from '@goondan/types';
import { extension, scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import type { EventAuthor } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';

/** Who the log of one turn says made its changes. */
async function authorsOf(event: Partial<AgentEvent>, options: ScriptedAgentOptions = {}): Promise<EventAuthor[]> {
  const authors: EventAuthor[] = [];
  const store = memoryStore();
  const watched = {
    ...store,
    append: (...all: Parameters<typeof store.append>) => {
      authors.push(...all[3].flatMap((record) => (record.type === 'message' ? [record.author] : [])));
      return store.append(...all);
    },
  };
  const tested = await scriptedAgent({ ...options, store: watched });
  await tested.say('hi', { event });
  await tested.close();
  return authors;
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
] as const)('the input says who sent it: %p', async (source, more, from) => {
  const [input, model] = await authorsOf({ source, ...more });
  expect(input).toEqual({ kind: 'input', from });
  expect(model).toEqual({ kind: 'model', ref: 'Model/scripted' });
});

test('a reply says which model gave it, also when a layer chose another one', async () => {
  const chooser = extension('chooser', ({ pipeline }) => {
    pipeline.register('model', (ctx) => {
      ctx.modelRef = 'Model/other';
      return ctx.next();
    });
  });
  const other = { provider: 'scripted', model: 'other', options: { script: [{ say: 'from the other' }] } };
  const authors = await authorsOf({}, { extensions: [chooser], models: { 'Model/other': other } });
  expect(authors.at(-1)).toEqual({ kind: 'model', ref: 'Model/other' });
});
