/** A Tool resource, resolved: where its module is and what it exports. */
import type { JsonObject, JsonSchema } from '@goondan/types';

export interface ToolExport {
  readonly name: string;
  readonly description: string;
  readonly parameters?: JsonSchema;
  /** May run beside other calls of the same step. */
  readonly parallel?: boolean;
  /** May be run again when a crash left its outcome unknown. */
  readonly idempotent?: boolean;
  readonly effects?: 'none' | 'local' | 'external';
}

export interface DeclaredTool {
  readonly name: string;
  readonly exports: readonly ToolExport[];
  /** What its handlers find in `ctx.config`; nothing when absent. */
  readonly config?: JsonObject;
  readonly configSchema?: JsonSchema;
  readonly errorMessageLimit?: number;
  /** The folder that `entry` is relative to and must not leave. */
  readonly root: string;
  readonly entry: string;
  /** A hash of its module and what that imports: another one is another tool. */
  readonly digest?: string;
}
