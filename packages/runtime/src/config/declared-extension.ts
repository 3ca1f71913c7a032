/** An Extension resource, resolved: where its module is and how it is configured here. */
import type { ExtensionResource, JsonObject } from '@goondan/types';

/** Swarm-wide extensions stand outside the agent's own whatever the numbers, declarative hooks inside. */
export type Tier = 'swarm' | 'agent' | 'hook';

export interface DeclaredExtension {
  readonly resource: ExtensionResource;
  /** The bundle's folder: `spec.entry` is relative to it. */
  readonly root: string;
  /** Merged over the resource's own config. */
  readonly config?: JsonObject;
  readonly tier?: Tier;
  /** A hash of its module and what that imports: another one is another extension. */
  readonly digest?: string;
}
