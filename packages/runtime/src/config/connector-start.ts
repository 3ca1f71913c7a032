/** The first thing a connector's process is told: what to load and how it is configured here. JSON. */
import type { JsonObject, JsonSchema } from '@goondan/types';

export interface ConnectorStart {
  /** The Connection's name. */
  readonly connection: string;
  /** The Connector's name. */
  readonly connector: string;
  /** The folder that `entry` is relative to and must not leave. */
  readonly root: string;
  readonly entry: string;
  /** The names it may emit; anything when absent. */
  readonly events?: readonly string[];
  readonly config: JsonObject;
  /** What the config has to fit. */
  readonly configSchema?: JsonSchema;
  /** Resolved values: never written down. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Further values that must never be written down, wherever they are used. */
  readonly masked?: readonly string[];
  /** Those that its events can reach; the orchestrator fills it in. */
  readonly agents?: readonly string[];
  /** A hash of its module and what that imports: another one is another connector. */
  readonly digest?: string;
  /** Only load the module and check its config and export: its function is not called. For a reload. */
  readonly isTrial?: boolean;
}
