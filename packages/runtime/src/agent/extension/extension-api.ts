/** Makes the `api` object of an extension, with its five members. */
import { type ExtensionApi, GoondanError, type JsonValue, type MiddlewareOptions } from '@goondan/types';
import type { Tier } from '../../config/declared-extension.ts';
import { copyJson } from '../../json/copy-json.ts';
import { inNameOf } from '../pipeline/turn-error.ts';
import { eventsApi } from './event-bus.ts';
import type { ExtensionPart } from './extension-part.ts';
import { removedApiMembers, removedToolsMembers } from './removed-members.ts';

/** Opens the api of an extension. Call `close` when `register` has settled; after that, the api accepts no layers. */
export function openExtensionApi(part: ExtensionPart, tier: Tier): { readonly api: ExtensionApi; close(): void } {
  const extension = part.name;
  let closed = false;
  const pipeline = Object.freeze({
    register(kind: unknown, run: unknown, options?: MiddlewareOptions) {
      if (closed) {
        throw new GoondanError(
          'E_PIPELINE_CLOSED',
          `Extension "${extension}" registered a ${String(kind)} middleware after its register() had finished.`,
        );
      }
      part.layers.add(extension, tier, kind, run, options);
    },
  });
  const tools = Object.assign(Object.create(removedToolsMembers(extension)) as object, {
    register: (item: unknown, handler: unknown, options?: { readonly server?: unknown }) =>
      part.registerTool(item, handler, readServer(extension, options?.server)),
  });
  const api = Object.assign(Object.create(removedApiMembers(extension)) as object, {
    pipeline,
    tools: Object.freeze(tools),
    state: part.state,
    events: eventsApi(part, extension, {
      tellStatus: (status) => part.tellStatus(status),
      keepSecrets: (secrets) => part.keepSecrets(secrets),
    }),
    logger: part.deps.loggerFor(extension),
  });
  return { api: Object.freeze(api), close: () => void (closed = true) };
}

function readServer(extension: string, server: unknown): JsonValue | undefined {
  const refuse = ({ message }: Error) =>
    inNameOf(extension, new GoondanError('E_TOOL_NAME', `The server of a tool must be JSON, but ${message}.`));
  return server === undefined ? undefined : copyJson(server, { omitUndefined: true, refuse });
}
