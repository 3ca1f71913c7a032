/** The first message to a connector process: the module to load and its config. JSON. */
import type { JsonObject, JsonSchema } from '@goondan/types';

export interface ConnectorStart {
  /** The Connection's name. */
  readonly connection: string;
  /** The Connector's name. */
  readonly connector: string;
  /** The folder that `entry` is relative to and must not leave. */
  readonly root: string;
  readonly entry: string;
  /** The names of events it may emit; any when absent. */
  readonly events?: readonly string[];
  readonly config: JsonObject;
  /** The schema that the config must fit. */
  readonly configSchema?: JsonSchema;
  /** Resolved values: never written down. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Further values that must never be written down, wherever they are used. */
  readonly masked?: readonly string[];
  /** The agents its events can reach; the orchestrator fills it in. */
  readonly agents?: readonly string[];
  /** A hash of its module and imports: with another hash it is another connector. */
  readonly digest?: string;
  /** True for a reload: the process only loads the module and checks its config and export. */
  readonly isTrial?: boolean;
}
