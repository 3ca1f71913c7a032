/** A Tool resource, resolved: the place of its module and its exports. */
import type { JsonObject, JsonSchema } from '@goondan/types';

export interface ToolExport {
  readonly name: string;
  readonly description: string;
  readonly parameters?: JsonSchema;
  /** May run at the same time as other calls of the step. */
  readonly parallel?: boolean;
  /** May be run again when a crash left its outcome unknown. */
  readonly idempotent?: boolean;
  readonly effects?: 'none' | 'local' | 'external';
}

export interface DeclaredTool {
  readonly name: string;
  /** Empty: its module exports tools of `defineTool`, and only the module knows their names and parameters. */
  readonly exports: readonly ToolExport[];
  /** The value of `ctx.config` for its handlers; nothing when absent. */
  readonly config?: JsonObject;
  readonly configSchema?: JsonSchema;
  readonly errorMessageLimit?: number;
  /** The folder that `entry` is relative to and must not leave. */
  readonly root: string;
  readonly entry: string;
  /** A hash of its module and imports: with another hash it is another tool. */
  readonly digest?: string;
}
