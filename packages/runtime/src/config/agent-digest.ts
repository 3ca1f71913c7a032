import type { JsonObject } from '@goondan/types';
import { type Mask, maskJson } from '../log/mask-secrets.ts';
import { planDigest } from './plan-digest.ts';

/**
 * A hash of all that an agent is made of, wherever its folder is. API keys are left out and other secrets masked, so it may
 * be written down. Functions that a program hands over do not count. Undefined when it hands over something that is no
 * JSON, for instance a model that refers to itself.
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
    return planDigest(maskJson(plan, mask) as JsonObject);
  } catch {
    return undefined;
  }
}
