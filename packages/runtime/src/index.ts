/**
 * The main entry point: start a swarm or a single agent from your own program, or connect to a running swarm. At most
 * 30 names. The other entry points are `./bundle`, `./control`, `./history` and `./testing`; each name is exported by
 * one entry point.
 */
export type { Approver } from './agent/seams/approver.ts';
export type { Engine } from './agent/seams/engine.ts';
export type { AgentPlan } from './agent/start/agent-plan.ts';
export type { AgentDeps, RunningAgent } from './agent/start/start-agent.ts';
export type { SwarmPlan } from './config/swarm-plan.ts';
export { connectSwarm } from './control/connect-swarm.ts';
export type {
  Acceptance,
  AskOptions,
  Delivery,
  InstanceAddress,
  InstanceStatus,
  Swarm,
  SwarmNotice,
  SwarmStatus,
  SwarmWatch,
  TurnEnd,
  WatchFilter,
} from './control/swarm.ts';
export type { QuestionReply } from './questions/check-reply.ts';
export type { QuestionSummary } from './questions/question-record.ts';
export { type DefinedSwarm, defineSwarm, type ResourceDefinition, type SwarmDefinition } from './define-swarm.ts';
export type { LogLine } from './ports/log-line.ts';
export type { TurnOutcome } from './ports/turn-outcome.ts';
export { startAgent } from './start-agent.ts';
export { type StartSwarmOptions, startSwarm } from './start-swarm.ts';
export { toolFile } from './tool-file.ts';
