// Old extensions that change while their agent runs. `old-changes.test.ts` has the order of their functions.
import { describe, expect, test } from 'bun:test';
import { changedAgent } from './testing/changed-agent.ts';
import { note, oldExtension } from './testing/old-extension.ts';

describe('the functions of the old extensions in place', () => {
  test('L-04 one of them may fail to load: the others go on as before', async () => {
    const seen: string[] = [];
    const a = oldExtension('a', (api) => note(api, 'turn.pre', 'a', seen));
    const { agent, change } = await changedAgent({ extensions: [a] });
    const broken = oldExtension('b', (api) => {
      note(api, 'turn.pre', 'b', seen);
      throw new Error('broken');
    });
    expect(change([broken, a])).rejects.toMatchObject({ code: 'E_EXT_INIT' });
    await agent.say('hello');
    expect(seen).toEqual(['turn.pre a']);
  });

  test('the state of a changed extension is that of the one before', async () => {
    const counts: unknown[] = [];
    const counting = () =>
      oldExtension('counting', ({ pipelines, getState, setState }) => {
        pipelines.mutate('turn.pre', (ctx) => {
          const { count = 0 } = getState() as { count?: number };
          setState({ count: count + 1 });
          counts.push(count + 1);
          return ctx;
        });
      });
    const { agent, change } = await changedAgent({ extensions: [counting()] });
    await agent.say('hello');
    await change([counting()]);
    await agent.say('hello');
    expect(counts).toEqual([1, 2]);
    expect(await agent.stateOf('counting')).toEqual({ count: 2 });
  });
});
