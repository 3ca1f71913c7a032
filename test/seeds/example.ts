// The code examples of the seed documents, each pasted into a file of its own under `examples/`: between the two
// markers stands the seed's text, letter for letter; around it only what the text leaves undefined.
import { join } from 'node:path';
import type { JsonValue, Message } from '@goondan/types';
import { type ConversationStore, memoryStore } from '@goondan/runtime/history';
import type { ExtensionDeclaration } from '@goondan/runtime/internal';
import { extensionFile } from '@goondan/runtime/testing';

export const examplesFolder = join(import.meta.dir, 'examples');

/** The example as an extension named `example`, loaded from its file as the runtime loads it. */
export function example(file: string): ExtensionDeclaration {
  return extensionFile('example', examplesFolder, `./${file}.ts`);
}

/** What the file of an example exports besides `register`, so that a test can see what it did. */
export async function exportsOf(file: string): Promise<Record<string, unknown>> {
  // A module is an object; what is in it is the test's to know.
  return (await import(join(examplesFolder, `${file}.ts`))) as Record<string, unknown>;
}

/** A store in which the tested agent has been before. */
export async function storeWith(past: { messages?: Message[]; state?: JsonValue }): Promise<ConversationStore> {
  const store = memoryStore();
  const address = { agentName: 'tested', instanceKey: 'default' };
  const { epoch } = await store.open(address, 'turn-before');
  const result = { turnId: 'turn-before', finishReason: 'text_response' } as const;
  const states = past.state === undefined ? {} : { example: past.state };
  await store.commit(address, epoch, 'turn-before', { type: 'append', messages: past.messages ?? [] }, states, result);
  return store;
}
