import type { JsonObject } from '@goondan/types';
import { type Mask, maskJson } from '../log/mask-secrets.ts';
import { digestJson } from '../json/digest-json.ts';

/**
 * Returns a hash of all parts of an agent, which does not depend on the agent's folder. The hash may be stored, because
 * API keys are left out and other secrets are masked. Functions passed by a program are not included. Returns
 * `undefined` when a program passes something that is not JSON, such as an object that refers to itself.
 */
export function agentDigest(agent: object, mask: Mask): string | undefined {
  try {
    const text = JSON.stringify(agent, (name, value: unknown) => (name === 'apiKey' ? undefined : value));
    const {
      secrets: _,
      instanceKey: _key,
      bundleFolder: _bundle,
      workdir: _work,
      ...plan
    } = JSON.parse(text) as JsonObject;
    return digestJson(maskJson(plan, mask));
  } catch {
    return undefined;
  }
}
