/** The plan of one agent instance to start, with models and functions that a program may pass in. */
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { ExtensionDeclaration } from '../extension/load-extension.ts';
import type { ModelEntry } from '../model-call/model-source.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

export interface AgentPlan extends Omit<DeclaredAgent, 'models' | 'tools' | 'extensions'> {
  /** `default` when absent. */
  readonly instanceKey?: string;
  readonly models: Readonly<Record<string, ModelEntry>>;
  readonly tools?: readonly ToolDeclaration[];
  readonly extensions?: readonly ExtensionDeclaration[];
}
