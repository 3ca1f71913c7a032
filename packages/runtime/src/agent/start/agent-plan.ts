/** A declared agent as it is started: one instance of it, with the models and functions a program can hand over. */
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
