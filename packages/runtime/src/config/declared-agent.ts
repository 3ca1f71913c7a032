/**
 * What an agent is made of, resolved: no references, no variables, nothing left to look up. It is JSON, because it goes
 * to the agent's process as a message.
 */
import type { ModelParams } from '@goondan/types';
import type { DeclaredExtension } from './declared-extension.ts';
import type { DeclaredTool } from './declared-tool.ts';
import type { ModelSpec } from './model-spec.ts';
import type { TurnPolicy } from './turn-policy.ts';

export interface DeclaredAgent {
  readonly agentName: string;
  /** What it is for: other agents read it in `agents__catalog`. */
  readonly description?: string;
  /** The first system message, and the only words that are not somebody's message. */
  readonly systemPrompt?: string;
  /** By reference: `Model/name`. */
  readonly models: Readonly<Record<string, ModelSpec>>;
  /** The one the steps use; the first of `models` when absent. */
  readonly modelRef?: string;
  readonly params?: ModelParams;
  readonly tools?: readonly DeclaredTool[];
  /** Offers the model `agents__request`, `agents__send`, `agents__list` and `agents__catalog`. */
  readonly agentTools?: boolean;
  /** In order: swarm-wide ones (`tier: 'swarm'`), then the agent's own. */
  readonly extensions?: readonly DeclaredExtension[];
  readonly policy?: Partial<TurnPolicy>;
  /** The folder that files named in resources are relative to; the current one when absent. */
  readonly bundleFolder?: string;
  /** The folder tools work in; the current one when absent. */
  readonly workdir?: string;
  /** Environment variables for its process, beside what every process gets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Resolved values that must never be written down. */
  readonly secrets?: readonly string[];
}
