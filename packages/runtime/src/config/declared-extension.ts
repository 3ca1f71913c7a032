/** A resolved Extension resource: the location of its module, and its config. */
import type { ExtensionResource, JsonObject } from '@goondan/types';

/**
 * Swarm-wide extensions are outside the agent's own extensions, and declarative hooks are inside, whatever their
 * priorities.
 */
export type Tier = 'swarm' | 'agent' | 'hook';

export interface DeclaredExtension {
  readonly resource: ExtensionResource;
  /** The folder of the bundle, to which `spec.entry` is relative. */
  readonly root: string;
  /** The config to merge over the resource's own config. */
  readonly config?: JsonObject;
  readonly tier?: Tier;
  /** A hash of the extension's module and its imports. If it differs, the extension has changed. */
  readonly digest?: string;
}
