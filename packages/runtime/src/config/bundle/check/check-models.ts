/**
 * Checks a Model for everything that a schema cannot check: its address, its script, and that a recording does not
 * record itself.
 */
import { GoondanError } from '@goondan/types';
import { checkRule } from '../../script/check-script.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { errorIn, type Finding } from '../bundle-problem.ts';
import { findResource, resourcesOf } from '../find-resource.ts';

export function* checkModels(scope: Scope): Generator<Finding> {
  for (const loaded of resourcesOf(scope, 'Model')) {
    yield* checkEndpoint(loaded);
    yield* checkScript(loaded);
    yield* checkUpstream(scope, loaded);
  }
}

function* checkEndpoint(loaded: LoadedResourceOf<'Model'>): Generator<Finding> {
  const { spec } = loaded.resource;
  const endpoint = 'endpoint' in spec ? spec.endpoint : undefined;
  if (typeof endpoint !== 'string' || (URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol))) return;
  const message = 'endpoint is not an http(s) URL.';
  const suggestion = 'Write the full URL, for example http://localhost:11434/v1.';
  yield errorIn(loaded, ['spec', 'endpoint'], 'E_RESOURCE_INVALID', message, suggestion);
}

function* checkScript(loaded: LoadedResourceOf<'Model'>): Generator<Finding> {
  const { spec } = loaded.resource;
  if (spec.provider !== 'scripted') return;
  for (const [index, rule] of spec.options.script.entries()) {
    try {
      checkRule(rule, `script[${index}]`);
    } catch (error) {
      if (!GoondanError.is(error)) throw error;
      yield errorIn(loaded, ['spec', 'options', 'script', index], error.code, error.message, error.suggestion);
    }
  }
}

/** Follows a recording to the model that it records, and reports a cycle. */
function* checkUpstream(scope: Scope, first: LoadedResourceOf<'Model'>): Generator<Finding> {
  const chain = [first.identity];
  let [home, model] = [scope, first];
  while (model.resource.spec.provider === 'cassette') {
    const { upstream } = model.resource.spec.options;
    const next = upstream === undefined ? undefined : findResource(home, 'Model', upstream);
    if (next === undefined) return;
    chain.push(next.loaded.identity);
    if (next.loaded === first) {
      const message = `A model would record itself: ${chain.join(' → ')}.`;
      yield errorIn(first, ['spec', 'options', 'upstream'], 'E_REF_CYCLE', message);
      return;
    }
    // A cycle is reported by the models that are part of it, not by a model that only leads into it.
    if (chain.indexOf(next.loaded.identity) < chain.length - 1) return;
    [home, model] = [next.scope, next.loaded];
  }
}
