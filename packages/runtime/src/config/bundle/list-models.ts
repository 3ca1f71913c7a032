/** Lists the models of an agent: its own, those that its extensions may call, and those that a recording records. */
import type { LoadedResourceOf, Scope } from './bundle.ts';
import { findResource, type FoundResource } from './find-resource.ts';
import type { WrittenReference } from './kinds/fields.ts';
import type { Path } from './place.ts';
import { ownModelOf, parseModelName } from './references.ts';

/** A model of an agent: a resource, or one that is only named. */
export type ListedModel = {
  /** The name by which the agent knows the model. */
  readonly key: string;
} & (
  | { readonly named: { readonly provider: string; readonly model: string }; readonly found?: undefined }
  | { readonly named?: undefined; readonly found: FoundResource<'Model'> }
);

/** Models that do not exist are left out. `scope`: the scope of the agent. */
export function listModels(scope: Scope, agent: LoadedResourceOf<'Agent'>): Iterable<ListedModel> {
  const listed = new Map<string, ListedModel>();
  for (const { written } of modelsOf(agent)) add(scope, written);
  return listed.values();

  function add(home: Scope, written: WrittenReference): void {
    const key = modelKeyOf(written);
    if (listed.has(key)) return;
    const named = parseModelName(written);
    if (named !== undefined) return void listed.set(key, { key, named });
    const found = findResource(home, 'Model', written);
    if (found === undefined) return;
    listed.set(key, { key, found });
    const { spec } = found.loaded.resource;
    if (spec.provider === 'cassette' && spec.options.mode === 'record' && spec.options.upstream !== undefined) {
      add(found.scope, spec.options.upstream);
    }
  }
}

/** Lists the models that an agent names, its own first. A model that is written in the agent is `Model/` and its name. */
export function modelsOf({ name, resource: { spec } }: Pick<LoadedResourceOf<'Agent'>, 'name' | 'resource'>): {
  readonly written: WrittenReference;
  readonly path: Path;
}[] {
  const { modelRef, models = [] } = spec.modelConfig ?? {};
  // Safe: a model that is not written in the agent is a reference.
  const own = ownModelOf(spec) === undefined ? (spec.model as WrittenReference | undefined) : `Model/${name}`;
  return [
    ...(own === undefined ? [] : [{ written: own, path: ['spec', 'model'] }]),
    ...(modelRef === undefined ? [] : [{ written: modelRef, path: ['spec', 'modelConfig', 'modelRef'] }]),
    ...models.map((written, index) => ({ written, path: ['spec', 'modelConfig', 'models', index] })),
  ];
}

/** Returns the name by which an agent knows a model. */
export function modelKeyOf(written: WrittenReference): string {
  return typeof written === 'string' ? written : `Model/${written.name}`;
}
