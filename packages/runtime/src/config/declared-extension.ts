/** A resolved Extension resource: the location of its module, and its config. */
import type { ExtensionResource, JsonObject } from '@goondan/types';

/**
 * The place of an extension's layers in the onion, whatever their priorities: layers of swarm-wide extensions are
 * outside the layers of the agent's own extensions, and layers of declarative hooks are inside them.
 */
export type Tier = 'swarm' | 'agent' | 'hook';

export interface DeclaredExtension {
  readonly resource: ExtensionResource;
  /** The folder of the bundle, to which `spec.entry` is relative. */
  readonly root: string;
  /** The config to merge over the resource's own config. */
  readonly config?: JsonObject;
  readonly tier?: Tier;
  /** A hash of the extension's module and its imports. A different hash means that the extension has changed. */
  readonly digest?: string;
}
