import type { JsonObject, JsonValue } from '@goondan/types';
import { isPlainObject } from '../json/copy-json.ts';
import { digestJson } from '../json/digest-json.ts';
import { type Mask, maskJson } from '../log/mask-secrets.ts';

/**
 * Returns a hash of all parts of an agent, which does not depend on the agent's folder. Lock files do not count, because
 * they contain the name of the folder, and neither do `policy.trace`, which the operator may set, and `isolation`. The hash may be
 * stored, because API keys are left out and other secrets are masked. Functions passed by a program are not included.
 * Returns `undefined` when a program passes something that is not JSON, such as an object that refers to itself.
 */
export function agentDigest(agent: object, mask: Mask): string | undefined {
  try {
    const text = JSON.stringify(agent, (name, value: unknown) => (name === 'apiKey' ? undefined : value));
    const {
      secrets: _,
      instanceKey: _key,
      bundleFolder: _bundle,
      workdir: _work,
      packages: _packages,
      isolation: _isolation,
      maxInstances: _most,
      extensions = [],
      tools = [],
      policy = {},
      ...plan
    } = JSON.parse(text) as JsonObject;
    const { trace: _trace, ...limits } = isPlainObject(policy) ? policy : {};
    const parts = { extensions: withoutPlaces(extensions), tools: withoutPlaces(tools), policy: limits };
    return digestJson(maskJson({ ...plan, ...parts }, mask));
  } catch {
    return undefined;
  }
}

/** Leaves out the folders of parts, the sockets of keepers, and the files of parts, which count in `digest`. */
function withoutPlaces(parts: JsonValue): JsonValue {
  if (!Array.isArray(parts)) return parts;
  return parts.map((part) => {
    if (!isPlainObject(part)) return part;
    const { root: _, files: _files, lazy: _lazy, keeper: _keeper, ...rest } = part;
    return rest;
  });
}
