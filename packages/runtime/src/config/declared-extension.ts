/** A resolved Extension resource: the location of its module, and its config. */
import type { ExtensionResource, JsonObject } from '@goondan/types';

/**
 * The place of an extension's layers in the onion, whatever their priorities: layers of swarm-wide extensions are
 * outside the layers of the agent's own extensions. Layers of extensions with `innermost: true` are inside these, and layers
 * of declarative hooks are inside all others.
 */
export type Tier = 'swarm' | 'agent' | 'innermost' | 'hook';

export interface DeclaredExtension {
  readonly resource: ExtensionResource;
  /** The folder of the bundle, to which `spec.entry` is relative. */
  readonly root: string;
  /** The config to merge over the resource's own config. */
  readonly config?: JsonObject;
  readonly tier?: Tier;
  /** Set if the extension can keep its connection in a keeper process. */
  readonly keeper?: ExtensionKeeper;
  /** A hash of the extension's module and its imports. A different hash means that the extension has changed. */
  readonly digest?: string;
  /**
   * The files of the bundle that the module consists of, relative to `root` and sorted: the entry and its imports.
   * Absent for a module of a package.
   */
  readonly files?: readonly string[];
  /**
   * True if one of `files` imports another one with `import()` or `require`, so possibly while the agent runs. A change
   * that imports the files of the running part anew then replaces the process between turns.
   */
  readonly lazy?: true;
  /** The npm package that the resource comes from; absent for a resource of the bundle. */
  readonly package?: string;
  /** True if the extension cannot exist twice in a process. A change of it then replaces the process between turns. */
  readonly exclusive?: true;
}

export interface ExtensionKeeper {
  /** The path of the keeper's module, relative to `root`. */
  readonly entry: string;
  /** The socket of the keeper. The orchestrator sets this field when it starts the agent's process. */
  readonly socket?: string;
  /** Why there is no keeper, or why it does not run yet. The orchestrator sets this field. */
  readonly refused?: string;
}
