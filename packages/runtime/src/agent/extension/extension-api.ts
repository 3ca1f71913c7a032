/** Makes the `api` object of an extension, with its five members. */
import { type ExtensionApi, GoondanError, type MiddlewareOptions } from '@goondan/types';
import type { LayerRegistry } from '../pipeline/layer-registry.ts';
import type { Tier } from '../../config/declared-extension.ts';
import type { ToolRegistry } from '../tool/tool-registry.ts';
import { type EventBus, eventsApi } from './event-bus.ts';
import type { DrawScope } from '../../trace/draw-scope.ts';
import type { ExtensionStates } from './extension-states.ts';
import type { ExtensionStatuses } from './extension-statuses.ts';
import { removedApiMembers, removedToolsMembers } from './removed-members.ts';

export interface ExtensionDeps {
  readonly layers: LayerRegistry;
  readonly tools: ToolRegistry;
  readonly states: ExtensionStates;
  readonly bus: EventBus;
  readonly statuses: ExtensionStatuses;
  readonly loggerFor: (extension: string) => Console;
  /** Returns the scope for an extension's draws while it is loaded; absent when draws are not recorded. */
  readonly drawScopeFor?: ((extension: string) => DrawScope) | undefined;
}

/** Opens the api of an extension. Call `close` when `register` has settled; after that, the api accepts no layers. */
export function openExtensionApi(
  deps: ExtensionDeps,
  extension: string,
  tier: Tier,
): { readonly api: ExtensionApi; close(): void } {
  let closed = false;
  const pipeline = Object.freeze({
    register(kind: unknown, run: unknown, options?: MiddlewareOptions) {
      if (closed) {
        throw new GoondanError(
          'E_PIPELINE_CLOSED',
          `Extension "${extension}" registered a ${String(kind)} middleware after its register() had finished.`,
        );
      }
      deps.layers.add(extension, tier, kind, run, options);
    },
  });
  const tools = Object.assign(Object.create(removedToolsMembers(extension)) as object, {
    register: (item: unknown, handler: unknown) => deps.tools.register(extension, item, handler),
  });
  const api = Object.assign(Object.create(removedApiMembers(extension)) as object, {
    pipeline,
    tools: Object.freeze(tools),
    state: deps.states.api(extension),
    events: eventsApi(deps.bus, extension, (status) => deps.statuses.told(extension, status)),
    logger: deps.loggerFor(extension),
  });
  return { api: Object.freeze(api), close: () => void (closed = true) };
}
