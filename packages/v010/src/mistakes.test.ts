// Mistakes of old extensions: the error names the extension, the place in its file and the right way.
import { describe, expect, test } from 'bun:test';
import { scriptedAgent } from '@goondan/runtime/testing';
import type { OldExtensionApi } from './old-types.ts';
import { oldBundle } from './testing/old-agent.ts';
import { oldExtension } from './testing/old-extension.ts';
import { v010 } from './v010.ts';

const event = `{ type: 'llm_message', message: { id: 'same', role: 'user', content: 'Note' } }`;

describe('a message event that is refused', () => {
  test.each(['turn.pre', 'step.pre', 'turn.post'])(
    'L-04 fails the turn at %s and names the extension, even if the function does not await it',
    async (point) => {
      using bundle = oldBundle({
        first: `api.pipelines.mutate('turn.pre', (ctx) => ctx);`,
        old: `api.pipelines.mutate('${point}', (ctx) => { ctx.emitMessageEvent(${event}); return ctx; });`,
      });
      const agent = await scriptedAgent({ extensions: bundle.extensions });
      await agent.say('one');
      const { error } = (await agent.say('two')).result;
      expect(error).toMatchObject({ code: 'E_MESSAGE_DUPLICATE', extension: 'old' });
    },
  );
});

test('L-04 an extension that is adapted twice is an error that says which one to remove', async () => {
  const twice = oldExtension('twice', v010(() => undefined) as never);
  expect(scriptedAgent({ extensions: [twice] })).rejects.toMatchObject({
    code: 'E_EXT_COMPAT',
    message: 'Extension "twice" is adapted twice.',
    suggestion: expect.stringContaining('Remove `compat: v010`'),
  });
});

test('L-04 the types of setState fit the state of the extension', () => {
  v010((api) => api.setState({ count: 1 }));
  v010((api: OldExtensionApi<{ count?: number }>) => api.setState({ count: (api.getState().count ?? 0) + 1 }));
  // @ts-expect-error: count is a number.
  v010((api: OldExtensionApi<{ count?: number }>) => api.setState({ count: 'one' }));
  expect(v010).toBeFunction();
});
