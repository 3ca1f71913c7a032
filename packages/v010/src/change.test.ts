// Old extensions that are added, changed, moved and removed while their agent runs.
import { describe, expect, test } from 'bun:test';
import { changedAgent } from './testing/changed-agent.ts';
import { allPoints, note, oldExtension } from './testing/old-extension.ts';
import type { OldExtensionApi } from './old-types.ts';

const seen: string[] = [];
const noting = (name: string, more?: (api: OldExtensionApi) => void) =>
  oldExtension(name, (api) => {
    for (const point of allPoints) note(api, point, name, seen);
    more?.(api);
  });

/** Returns the functions that ran at a point since the last call. */
function takeSeen(point: string): string[] {
  const found = seen.filter((line) => line.startsWith(`${point} `)).map((line) => line.slice(point.length + 1));
  seen.length = 0;
  return found;
}

describe('the functions of the old extensions in place', () => {
  test('L-04 run when the first extension has left, and only theirs', async () => {
    const [a, b, c] = [noting('a'), noting('b'), noting('c')];
    const { agent, change } = await changedAgent({ extensions: [a, b, c] });
    await agent.say('hello');
    expect(takeSeen('turn.pre')).toEqual(['a', 'b', 'c']);
    await change([b, c]);
    await agent.say('hello');
    expect(takeSeen('turn.pre')).toEqual(['b', 'c']);
    await change([c]);
    await agent.say('hello');
    expect(takeSeen('step.llmCall')).toEqual(['c in', 'c out']);
    await change([]);
    await agent.say('hello');
    expect(seen).toEqual([]);
  });

  test('L-04 run in the order of the new plan, not in the order in which they were loaded', async () => {
    const [a, b, c] = [noting('a'), noting('b'), noting('c')];
    const { agent, change } = await changedAgent({ extensions: [a, b] });
    await change([c, b, a]);
    await agent.say('hello');
    expect(takeSeen('step.post')).toEqual(['c', 'b', 'a']);
    // A changed extension is loaded anew, and keeps its place.
    await change([c, noting('b'), a]);
    await agent.say('hello');
    expect(takeSeen('step.llmCall')).toEqual(['c in', 'b in', 'a in', 'a out', 'b out', 'c out']);
  });

  test('L-04 change between two steps: the turn keeps its functions until it ends', async () => {
    let hasChanged = false;
    const work = {
      name: 'work',
      exports: [{ name: 'run', description: 'Works.' }],
      handlers: {
        async run() {
          // The change waits for the end of the step.
          if (!hasChanged) void swap();
          hasChanged = true;
          await new Promise((resolve) => void setImmediate(resolve));
          return 'done';
        },
      },
    };
    const script = [{ when: 'go', calls: [{ tool: 'work__run' }] }, { say: 'done' }];
    const [a, b, c] = [noting('a'), noting('b'), noting('c')];
    const { agent, change } = await changedAgent({ script, tools: [work], extensions: [a, b] });
    const held = Promise.withResolvers<void>();
    const swap = () => change([c, b]).then(held.resolve, held.reject);
    const turn = agent.say('go');
    expect((await turn).text).toBe('done');
    await held.promise;
    const steps = seen.filter((line) => line.startsWith('step.pre'));
    expect(steps).toEqual(['step.pre a', 'step.pre b', 'step.pre c', 'step.pre b']);
    expect(takeSeen('turn.post')).toEqual(['a', 'b']);
    await agent.say('hello');
    expect(takeSeen('turn.pre')).toEqual(['c', 'b']);
  });

  test('L-04 one of them may fail to load: the others go on as before', async () => {
    const a = noting('a');
    const { agent, change } = await changedAgent({ extensions: [a] });
    const broken = noting('b', () => {
      throw new Error('broken');
    });
    expect(change([broken, a])).rejects.toMatchObject({ code: 'E_EXT_INIT' });
    await agent.say('hello');
    expect(takeSeen('turn.pre')).toEqual(['a']);
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
