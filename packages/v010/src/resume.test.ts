// An interrupted turn of an agent with an old extension goes on from its log.
import { expect, test } from 'bun:test';
import { memoryStore } from '@goondan/runtime/history';
import { scriptedAgent } from '@goondan/runtime/testing';
import { callsTool, oldExtension } from './testing/old-extension.ts';
import { recordingStore } from './testing/recording-store.ts';

test.each([
  ['its last step', 'go', 1],
  ['its end, so that no step runs again', 'go', 2],
])('L-04 a turn that is resumed after %s has the state of that moment', async (_, input, count) => {
  const seen: unknown[] = [];
  const counting = () =>
    oldExtension('old', ({ pipelines, getState, setState }) => {
      pipelines.mutate('step.post', (ctx) => {
        setState({ steps: [...((getState().steps as number[] | undefined) ?? []), ctx.step.index] });
        return ctx;
      });
      pipelines.mutate('step.pre', (ctx) => {
        seen.push(`step ${ctx.step.index}: ${JSON.stringify(getState())}`);
        return ctx;
      });
      pipelines.mutate('turn.post', (ctx) => {
        seen.push(`end: ${JSON.stringify(getState())}`);
        return ctx;
      });
    });
  const { store, records } = recordingStore(memoryStore());
  await (await scriptedAgent({ ...callsTool, extensions: [counting()], store })).say(input);
  const whole = ['step 0: {}', 'step 1: {"steps":[0]}', 'end: {"steps":[0,1]}'];
  expect(seen.splice(0)).toEqual(whole);

  // Another process finds the log up to the end of this step.
  const ends = records.flatMap(({ type }, index) => (type === 'step' ? [index] : []));
  const agent = await scriptedAgent({ ...callsTool, extensions: [counting()] });
  const { address } = agent.agent.parts;
  const { epoch } = await agent.store.open(address, 'turn-event-1');
  await agent.store.append(address, epoch, 0, records.slice(0, (ends[count - 1] ?? 0) + 1));
  expect((await agent.say(input)).text).toBe('done');
  expect(seen).toEqual(whole.slice(count));
  expect(await agent.stateOf('old')).toEqual({ steps: [0, 1] });
});
