/** The first thing an agent's process is told: who it is, what it is made of, where its conversation lives. JSON. */
import type { AgentAddress, AgentCard } from '@goondan/types';
import type { TelemetrySettings } from './telemetry-settings.ts';
import type { ReplaySource } from '../trace/replay.ts';
import type { DeclaredAgent } from './declared-agent.ts';

export interface AgentStart {
  readonly address: AgentAddress;
  readonly agent: DeclaredAgent;
  /** Everyone in the swarm, itself included. */
  readonly agents: readonly AgentCard[];
  readonly store: { readonly stateRoot: string; readonly workspaceId: string };
  /** Nothing of its conversation was written yet: there is nothing to read before its first turn. */
  readonly isNew?: boolean;
  /** The folder to work in, into which the process moves. It exists. */
  readonly cwd: string;
  /** Where the spans of its turns go; nowhere when absent. */
  readonly telemetry?: TelemetrySettings;
  /** Run this turn again from what was recorded of it, say what came of it, and end: nothing else is asked. */
  readonly replay?: ReplaySource;
}
