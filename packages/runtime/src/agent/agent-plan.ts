/** What an agent is made of, resolved: no references, no variables, nothing left to look up. */
import type { ModelParams } from '@goondan/types';
import type { ExtensionDeclaration } from './extension/load-extension.ts';
import type { ModelEntry } from './model/model-source.ts';
import type { TurnPolicy } from './policy.ts';
import type { ToolDeclaration } from './tool/load-tool.ts';

export interface AgentPlan {
  readonly agentName: string;
  /** `default` when absent. */
  readonly instanceKey?: string;
  /** The first system message, and the only words that are not somebody's message. */
  readonly systemPrompt?: string;
  /** By reference: `Model/name`. */
  readonly models: Readonly<Record<string, ModelEntry>>;
  /** The one the steps use; the first of `models` when absent. */
  readonly modelRef?: string;
  readonly params?: ModelParams;
  readonly tools?: readonly ToolDeclaration[];
  /** In order: swarm-wide ones (`tier: 'swarm'`), then the agent's own. */
  readonly extensions?: readonly ExtensionDeclaration[];
  readonly policy?: Partial<TurnPolicy>;
  /** The folder that files named in resources are relative to; the current one when absent. */
  readonly bundleFolder?: string;
  /** The folder tools work in; the current one when absent. */
  readonly workdir?: string;
  /** Resolved values that must never be written down. */
  readonly secrets?: readonly string[];
}
