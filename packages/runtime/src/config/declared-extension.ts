/** An Extension resource, resolved: the place of its module and its config. */
import type { ExtensionResource, JsonObject } from '@goondan/types';

/** Swarm-wide extensions are outside the agent's own ones, and declarative hooks inside, whatever their priorities. */
export type Tier = 'swarm' | 'agent' | 'hook';

export interface DeclaredExtension {
  readonly resource: ExtensionResource;
  /** The bundle's folder: `spec.entry` is relative to it. */
  readonly root: string;
  /** Merged over the resource's own config. */
  readonly config?: JsonObject;
  readonly tier?: Tier;
  /** A hash of its module and imports: with another hash it is another extension. */
  readonly digest?: string;
}
