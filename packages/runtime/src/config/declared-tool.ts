/** A resolved Tool resource: the location of its module, and its exports. */
import type { JsonObject, JsonSchema } from '@goondan/types';

export interface ToolExport {
  readonly name: string;
  readonly description: string;
  readonly parameters?: JsonSchema;
  /** If true, the tool may run at the same time as other calls of the step. */
  readonly parallel?: boolean;
  /** If true, the tool may run again after a crash left its outcome unknown. */
  readonly idempotent?: boolean;
  readonly effects?: 'none' | 'local' | 'external';
}

export interface DeclaredTool {
  readonly name: string;
  /**
   * The exports of the tool. If empty, its module exports tools in code, and only the module knows their names
   * and parameters.
   */
  readonly exports: readonly ToolExport[];
  /** The value of `ctx.config` in its handlers; an empty object when absent. */
  readonly config?: JsonObject;
  readonly configSchema?: JsonSchema;
  readonly errorMessageLimit?: number;
  /** The folder to which `entry` is relative. The module must be inside this folder. */
  readonly root: string;
  readonly entry: string;
  /** A hash of the tool's module and its imports. A different hash means that the tool has changed. */
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
  /** True if the module cannot be loaded twice in a process. A change of it then replaces the process between turns. */
  readonly exclusive?: true;
}
