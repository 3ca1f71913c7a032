/** The first message to a connector process: the module to load and its config. The message is JSON. */
import type { JsonObject, JsonSchema } from '@goondan/types';

export interface ConnectorStart {
  /** The Connection's name. */
  readonly connection: string;
  /** The Connector's name. */
  readonly connector: string;
  /** The folder to which `entry` is relative. The module must be inside this folder. */
  readonly root: string;
  readonly entry: string;
  /** The names of events that the connector may emit; any when absent. */
  readonly events?: readonly string[];
  readonly config: JsonObject;
  /** The schema against which the config is checked. */
  readonly configSchema?: JsonSchema;
  /** Resolved secrets by name. They must never be written down. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Further values that must never be written down. */
  readonly masked?: readonly string[];
  /** The agents that the connection's events can reach. The orchestrator sets this field. */
  readonly agents?: readonly string[];
  /** If true, the connector gets the questions of turns that its events began, and may answer them. */
  readonly answersQuestions?: boolean;
  /** A hash of the connector's module and its imports. A different hash means that the connector has changed. */
  readonly digest?: string;
  /** True for a trial during a reload: the process only loads the module and checks its config and export. */
  readonly isTrial?: boolean;
}
