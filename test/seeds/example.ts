// The code examples of the seed documents, each in a file of its own under `examples/`: the seed's exact text is
// between two markers, surrounded only by what it leaves undefined.
import { join } from 'node:path';
import type { JsonValue, Message } from '@goondan/types';
import { type ConversationStore, memoryStore } from '@goondan/runtime/history';
import type { ExtensionDeclaration } from '@goondan/runtime/internal';
import { extensionFile } from '@goondan/runtime/testing';

export const examplesFolder = join(import.meta.dir, 'examples');

/** Returns the example as an extension named `example`, loaded from its file like in the runtime. */
export function example(file: string): ExtensionDeclaration {
  return extensionFile('example', examplesFolder, `./${file}.ts`);
}

/** Returns the other exports of an example's file. They tell a test what the example did. */
export async function exportsOf(file: string): Promise<Record<string, unknown>> {
  // A module is an object; the test knows its contents.
  return (await import(join(examplesFolder, `${file}.ts`))) as Record<string, unknown>;
}

/** Creates a store that already contains messages or a state of the tested agent. */
export async function storeWith(past: { messages?: Message[]; state?: JsonValue }): Promise<ConversationStore> {
  const store = memoryStore();
  const address = { agentName: 'tested', instanceKey: 'default' };
  const { epoch } = await store.open(address, 'turn-before');
  const result = { turnId: 'turn-before', finishReason: 'text_response' } as const;
  const states = past.state === undefined ? {} : { example: past.state };
  await store.commit(address, epoch, 'turn-before', { type: 'append', messages: past.messages ?? [] }, states, result);
  return store;
}
