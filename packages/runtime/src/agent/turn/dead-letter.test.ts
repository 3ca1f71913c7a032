import { describe, expect, test } from 'bun:test';
import { type ConversationStore, memoryStore } from '../../index.ts';
import { extension, scriptedAgent } from '../../testing/index.ts';

/** A process that dies in its first step: what it had recorded stays, and nothing comes after. */
async function crash(store: ConversationStore): Promise<void> {
  const reached = Promise.withResolvers<void>();
  const dying = await scriptedAgent({
    store,
    extensions: [
      extension('dying', (api) => {
        api.pipeline.register('step', () => {
          reached.resolve();
          return new Promise(() => undefined);
        });
      }),
    ],
  });
  void dying.say('hello');
  await reached.promise;
}

describe('an event that crashes its agent again and again', () => {
  test.each([0, 1, 2])('after %d crashes it is still answered', async (crashes) => {
    const store = memoryStore();
    for (let count = 0; count < crashes; count++) await crash(store);
    const agent = await scriptedAgent({ store });
    expect((await agent.say('hello')).text).toBe('You said: hello');
  });

  test('M-07 after the third it is a failed turn: its input is kept, nothing of it runs, and the next one is answered', async () => {
    const store = memoryStore();
    for (let count = 0; count < 3; count++) await crash(store);
    let ran = 0;
    const counting = extension('counting', (api) => {
      api.pipeline.register('turn', (ctx) => {
        ran++;
        return ctx.next();
      });
    });
    const agent = await scriptedAgent({ store, extensions: [counting] });
    const { result } = await agent.say('hello');
    expect(result).toMatchObject({ finishReason: 'error', error: { code: 'E_DEAD_LETTER' } });
    expect(ran).toBe(0);
    expect((await agent.messages()).map(({ data }) => data.content)).toEqual(['hello']);
    expect((await agent.say('again')).text).toBe('You said: again');
  });
});
