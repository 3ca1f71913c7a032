import { describe, expect, test } from 'bun:test';
import type { ExtensionApi } from '@goondan/types';
import { extension, scriptedAgent } from '../../testing/index.ts';

async function openApi(): Promise<ExtensionApi> {
  const apis: ExtensionApi[] = [];
  await scriptedAgent({ extensions: [extension('old', (api) => void apis.push(api))] });
  return apis[0] as ExtensionApi;
}

const removed: [owner: 'api' | 'tools', member: string, replacement: string][] = [
  ['api', 'pipelines', 'api.pipeline.register(kind, middleware), or `compat: v010` in its resource,'],
  ['api', 'extension', 'the second argument of register(api, config)'],
  ['api', 'swarmBundle', 'the tool `bundle` of @goondan/base'],
  ['api', 'liveConfig', 'editing the bundle and `gdn reload`'],
  ['api', 'oauth', "the extension's own code, with secrets from its config"],
  ['api', 'instance', 'api.state, or api.events between extensions'],
  ['api', 'getState', 'await api.state.get()'],
  ['api', 'setState', 'await api.state.set(value)'],
  ['tools', 'unregister', 'leaving the tool out of ctx.toolCatalog in a step layer'],
  ['tools', 'get', 'ctx.toolCatalog in a step layer'],
  ['tools', 'list', 'ctx.toolCatalog in a step layer'],
];

describe('a removed member', () => {
  test.each(removed)('X-18 %s.%s throws E_EXT_COMPAT naming its replacement', async (owner, member, replacement) => {
    const api = await openApi();
    const target: object = owner === 'api' ? api : api.tools;
    const name = owner === 'api' ? `api.${member}` : `api.tools.${member}`;
    expect(() => Reflect.get(target, member)).toThrow(
      expect.objectContaining({
        code: 'E_EXT_COMPAT',
        message: `Extension "old" uses ${name}, which no longer exists.`,
        suggestion: `Use ${replacement} instead.`,
      }),
    );
  });

  test('X-18 does not affect the others: a member that never existed is undefined', async () => {
    const api = await openApi();
    expect(Reflect.get(api, 'never')).toBeUndefined();
    expect(Reflect.get(api.pipeline, 'mutate')).toBeUndefined();
    expect(Reflect.get(api.pipeline, 'wrap')).toBeUndefined();
  });
});
