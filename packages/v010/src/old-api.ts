/** Makes the `api` object of v0.10. */
import { GoondanError, type JsonObject, type ToolHandler } from '@goondan/types';
import { addRemoved, CHANGE_BUNDLE, withRemoved } from './compat-error.ts';
import type { Member } from './member.ts';
import type { OldExtensionApi, OldToolHandler, OldToolItem } from './old-types.ts';

export function openOldApi<State>(member: Member, config: JsonObject): OldExtensionApi<State> {
  const { name, api, entries, events } = member;
  const getState = () => member.state.get() as JsonObject;
  const setState = (state: unknown) => member.state.set(state);
  const members = {
    extension: oldResource(name, config),
    pipelines: Object.freeze({
      mutate: (point: unknown, run: unknown, options?: unknown) => entries.mutate(point, run, options),
      wrap: (point: unknown, run: unknown, options?: unknown) => entries.wrap(point, run, options),
    }),
    tools: oldTools(member),
    events,
    state: Object.freeze({ get: getState, set: setState }),
    logger: api.logger,
    getState,
    setState,
  };
  const old = Object.assign(withRemoved('api', removedFromApi, name), members);
  addRemoved(old, 'api', newInApi, name, 'which v0.10 did not have');
  return Object.freeze(old) as unknown as OldExtensionApi<State>;
}

/** The resource of the extension, as far as it is known here. */
function oldResource(name: string, config: JsonObject): object {
  const spec = withRemoved('api.extension.spec', removedFromSpec, name);
  return Object.freeze({
    kind: 'Extension',
    metadata: Object.freeze({ name }),
    spec: Object.freeze(Object.assign(spec, { config })),
  });
}

function oldTools({ name, api }: Member): object {
  const tools = withRemoved('api.tools', removedFromTools, name);
  return Object.freeze(
    Object.assign(tools, {
      register(item: OldToolItem & { handler?: OldToolHandler }, given?: OldToolHandler) {
        if (typeof item !== 'object' || item === null) {
          throw new GoondanError('E_TOOL_NAME', `Extension "${name}" registered a tool that is not an object.`);
        }
        const { name: toolName, description = '', parameters, handler } = item;
        const run = given ?? handler;
        api.tools.register(
          { name: toolName, description, ...(parameters === undefined ? {} : { parameters }) },
          // Safe: the runtime checks that the handler is a function, and its output after every call.
          (run && ((ctx, input) => run(ctx, input))) as ToolHandler,
        );
      },
    }),
  );
}

const removedFromApi = {
  swarmBundle: CHANGE_BUNDLE,
  liveConfig: CHANGE_BUNDLE,
  oauth: "Use the extension's own code, with secrets from its config.",
  instance: 'Use api.getState() and api.setState(), or api.events between extensions.',
};

const newInApi = {
  pipeline: 'Use api.pipelines. An extension for the new API needs neither `compat: v010` nor `v010(register)`.',
};

const removedFromSpec = {
  entry: 'Use import.meta.url in the module of the extension.',
  runtime: 'Remove it: extensions always run on Bun.',
};

const removedFromTools = {
  unregister: 'Leave the tool out of ctx.toolCatalog at step.tools.',
  get: 'Use ctx.toolCatalog at step.tools.',
  list: 'Use ctx.toolCatalog at step.tools.',
};
