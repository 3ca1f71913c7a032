/**
 * An agent with everything resolved: no references, no variables. This form is JSON, because the agent process gets it
 * in a message.
 */
import type { ModelParams, OutputDemand } from '@goondan/types';
import type { DeclaredExtension } from './declared-extension.ts';
import type { DeclaredTool } from './declared-tool.ts';
import type { ModelSpec } from './model-spec.ts';
import type { TurnPolicy } from './turn-policy.ts';

export interface DeclaredAgent {
  readonly agentName: string;
  /** The purpose of the agent, which other agents read in `agents__catalog`. */
  readonly description?: string;
  /** The first system message; not part of the conversation. */
  readonly systemPrompt?: string;
  /** The agent's models by reference: `Model/name`. */
  readonly models: Readonly<Record<string, ModelSpec>>;
  /** The model for the agent's steps; the first of `models` when absent. */
  readonly modelRef?: string;
  readonly params?: ModelParams;
  /** The schema that the answers of the agent must fit, unless an event demands another one. */
  readonly output?: OutputDemand;
  readonly tools?: readonly DeclaredTool[];
  /** If true, the model is offered `agents__request`, `agents__send`, `agents__list` and `agents__catalog`. */
  readonly agentTools?: boolean;
  /** The names of the agents that this agent may call; all agents of the swarm when absent. The orchestrator checks it. */
  readonly mayAsk?: readonly string[];
  /** Extensions in order: first swarm-wide ones (`tier: 'swarm'`), then those of the agent, of all other tiers. */
  readonly extensions?: readonly DeclaredExtension[];
  readonly policy?: Partial<TurnPolicy>;
  /** The folder to which files named in resources are relative; the current folder when absent. */
  readonly bundleFolder?: string;
  /** The folder in which tools work; the current folder when absent. */
  readonly workdir?: string;
  /** Environment variables for the agent's process, in addition to those of every process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** `agent`: conversations of this agent share processes. When absent, each has a process of its own. */
  readonly isolation?: 'agent';
  /** The maximum number of conversations in a shared process; 200 when absent. */
  readonly maxInstances?: number;
  /** A hash of the lock files that apply to the bundle. If it changes, installed packages may have changed. */
  readonly packages?: string;
  /** Resolved values that must never be written down. */
  readonly secrets?: readonly string[];
  /** The environment variables that this node misses. The agent is left to other nodes then. */
  readonly missing?: readonly string[];
}
