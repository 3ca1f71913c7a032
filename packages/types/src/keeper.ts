import type { Cleanup } from './extension.ts';
import type { JsonObject } from './json.ts';
import type { ExtensionStatus } from './runtime-events.ts';

/**
 * The surroundings of a keeper: a module that holds a connection of an extension in a process of its own, so that the
 * connection outlives the agent's process. The annotation `goondan.ai/keeper` of an Extension names the module.
 */
export interface KeeperContext {
  /** The name of the extension in the agent. */
  readonly name: string;
  /** The config of the extension. */
  readonly config: JsonObject;
  /** The path of the socket at which the keeper listens. Only the user of the swarm may open the socket. */
  readonly socket: string;
  readonly bundleFolder: string;
  /**
   * The working folder of the agent. A reload may change it, and variables of the process, while the keeper runs: read
   * them when you need them.
   */
  readonly workdir: string;
  readonly logger: Console;
  /** Reports the state of the connection, which `gdn status` shows. */
  readonly report: (status: ExtensionStatus) => void;
}

/** The export `keep` of a keeper's module. Resolves when the keeper listens; the cleanup ends it. */
export type Keep = (context: KeeperContext) => Promise<Cleanup>;
