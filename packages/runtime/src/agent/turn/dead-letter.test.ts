import { describe, expect, test } from 'bun:test';
import type { ConversationStore } from '../conversation/conversation-store.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import { extension, scriptedAgent } from '../../testing/index.ts';
import { beforeNext, oneLayer } from '../../testing/one-layer.ts';
import { recordingStore } from '../../testing/turn-records.ts';
import { until } from '../../../../../test/until.ts';

/** Fakes a process that dies in its first step: its records stay, and no more records follow. */
async function crash(store: ConversationStore, isExcused = false): Promise<void> {
  const reached = Promise.withResolvers<void>();
  const dying = await scriptedAgent({
    store,
    extensions: [
      oneLayer('dying', 'step', () => {
        reached.resolve();
        return new Promise(() => undefined);
      }),
    ],
  });
  void dying.say('hello', { isExcused });
  await reached.promise;
}

describe('an event that crashes its agent repeatedly', () => {
  test.each([0, 1, 2])('after %d crashes it is still answered', async (crashes) => {
    const store = memoryStore();
    for (let count = 0; count < crashes; count++) await crash(store);
    const agent = await scriptedAgent({ store });
    expect((await agent.say('hello')).text).toBe('You said: hello');
  });

  test('M-07 after the third crash it is a failed turn: its input is kept, nothing of it runs, and the next event is answered', async () => {
    const store = memoryStore();
    for (let count = 0; count < 3; count++) await crash(store);
    let ran = 0;
    const counting = beforeNext('counting', 'turn', () => {
      ran++;
    });
    const agent = await scriptedAgent({ store, extensions: [counting] });
    const { result } = await agent.say('hello');
    expect(result).toMatchObject({ finishReason: 'error', error: { code: 'E_DEAD_LETTER' } });
    expect(ran).toBe(0);
    expect((await agent.messages()).map(({ data }) => data.content)).toEqual(['hello']);
    expect((await agent.say('again')).text).toBe('You said: again');
  });

  test.each([
    ['of the last try', [false, false, false], true],
    ['of an earlier one', [false, false, true], false],
  ])('a failure of the store %s does not count as a crash', async (_title, crashes, isExcused) => {
    const store = memoryStore();
    for (const isCrashExcused of crashes) await crash(store, isCrashExcused);
    const agent = await scriptedAgent({ store });
    expect((await agent.say('hello', { isExcused })).text).toBe('You said: hello');
  });

  test('X-12 keeps the states of the last record of its runs', async () => {
    const { store, records } = recordingStore();
    const counting = extension('counting', ({ pipeline, state }) => {
      const count = async (what: string) => state.set({ ...Object(await state.get()), [what]: true });
      pipeline.register('turn', async (ctx) => (await count('turn'), ctx.next()));
      pipeline.register('step', async (ctx) => {
        await count(`step ${ctx.stepIndex}`);
        return ctx.next();
      });
    });
    const script = [{ when: 'hello', call: { tool: 'missing__tool', args: {} } }, { say: 'never' }] as const;
    for (let run = 0; run < 3; run++) {
      const reached = Promise.withResolvers<void>();
      const dying = oneLayer('dying', 'step', (ctx) => {
        if (ctx.stepIndex === 0) return ctx.next();
        reached.resolve();
        return new Promise(() => undefined);
      });
      const agent = await scriptedAgent({ store, script, extensions: [counting, dying] });
      void agent.say('hello');
      await reached.promise;
      // The record of the first step is written to the store in the background.
      await until(() => records.some(({ type }) => type === 'step'));
    }
    const agent = await scriptedAgent({ store, extensions: [counting] });
    expect((await agent.say('hello')).result.error?.code).toBe('E_DEAD_LETTER');
    // The second step has no record, because every run was interrupted in that step.
    expect(await agent.stateOf('counting')).toEqual({ turn: true, 'step 0': true });
  });
});
