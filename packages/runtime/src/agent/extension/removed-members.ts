/**
 * Members that older versions of the extension API had. Reading one throws an error that names the replacement, instead
 * of returning `undefined`.
 */
import { GoondanError } from '@goondan/types';

const removedFromApi: Record<string, string> = {
  pipelines: 'api.pipeline.register(kind, middleware), or `compat: v010` in its resource,',
  extension: 'the second argument of register(api, config)',
  swarmBundle: 'the tool `bundle` of @goondan/base',
  liveConfig: 'editing the bundle and `gdn reload`',
  oauth: "the extension's own code, with secrets from its config",
  instance: 'api.state, or api.events between extensions',
  getState: 'await api.state.get()',
  setState: 'await api.state.set(value)',
};

const removedFromTools: Record<string, string> = {
  unregister: 'leaving the tool out of ctx.toolCatalog in a step layer',
  get: 'ctx.toolCatalog in a step layer',
  list: 'ctx.toolCatalog in a step layer',
};

/** Makes a prototype for `api`, so that the object itself has only its five members. */
export function removedApiMembers(extension: string): object {
  return throwing('api', removedFromApi, extension);
}

export function removedToolsMembers(extension: string): object {
  return throwing('api.tools', removedFromTools, extension);
}

function throwing(owner: string, removed: Record<string, string>, extension: string): object {
  const prototype = {};
  for (const [member, replacement] of Object.entries(removed)) {
    Object.defineProperty(prototype, member, {
      get() {
        throw new GoondanError(
          'E_EXT_COMPAT',
          `Extension "${extension}" uses ${owner}.${member}, which no longer exists.`,
          {
            suggestion: `Use ${replacement} instead.`,
          },
        );
      },
    });
  }
  return prototype;
}
