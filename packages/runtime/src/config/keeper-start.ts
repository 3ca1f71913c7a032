/** The first message to a keeper process: the module that keeps a connection open, and its config. The message is JSON. */
import type { JsonObject } from '@goondan/types';

export interface KeeperStart {
  readonly agentName: string;
  /** The name of the extension in the agent. */
  readonly extension: string;
  /** The folder to which `entry` is relative. The module must be inside this folder. */
  readonly root: string;
  readonly entry: string;
  readonly config: JsonObject;
  /** The path at which the keeper listens. */
  readonly socket: string;
  readonly bundleFolder: string;
  readonly workdir: string;
  /** Resolved values that must never be written down. */
  readonly secrets: readonly string[];
}
