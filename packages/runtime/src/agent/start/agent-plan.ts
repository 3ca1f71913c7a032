/** The plan for starting one agent instance, with models and functions that a program may pass in. */
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { ModelSpec } from '../../config/model-spec.ts';
import type { ExtensionDeclaration } from '../extension/load-extension.ts';
import type { Model } from '../model/model-port.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

export interface AgentPlan extends Omit<DeclaredAgent, 'models' | 'tools' | 'extensions'> {
  /** The key of the instance; `default` when absent. */
  readonly instanceKey?: string;
  /** Models that are already open, or the specs to open them from. */
  readonly models: Readonly<Record<string, Model | ModelSpec>>;
  readonly tools?: readonly ToolDeclaration[];
  readonly extensions?: readonly ExtensionDeclaration[];
}
