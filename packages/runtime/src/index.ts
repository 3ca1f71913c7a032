/** What embedders use: start an agent or a swarm, give it events, watch it, keep its conversations where you like. */
export type { AgentPlan } from './agent/start/agent-plan.ts';
export type { Engine } from './agent/seams/engine.ts';
export type { ApprovalAnswer, ApprovalQuestion, Approver } from './agent/seams/approver.ts';
export type {
  BaseDelta,
  ConversationSnapshot,
  ConversationStore,
  EventAuthor,
  InputOrigin,
  OpenTurn,
  TurnRecord,
} from './agent/conversation/conversation-store.ts';
export { fold } from './agent/conversation/fold.ts';
export { memoryStore } from './agent/conversation/memory-store.ts';
export { textOf } from '@goondan/types';
export type { ExtensionDeclaration } from './agent/extension/load-extension.ts';
export { type LogLevel, type LogLine, type LogSink, stderrSink } from './log/log-sink.ts';
export type { Mask } from './log/mask-secrets.ts';
export type { Fetch, Model, ModelRequest } from './agent/model/model-port.ts';
export type { ModelEntry } from './agent/model-call/model-source.ts';
export type { Layer } from './agent/pipeline/layer.ts';
export { defaultPolicy, type TurnPolicy } from './config/turn-policy.ts';
export { type AgentDeps, type RunningAgent, startAgent } from './agent/start/start-agent.ts';
export type { ToolDeclaration } from './agent/tool/load-tool.ts';
export type { DeltaListener } from './agent/turn-state/delta-gate.ts';
export type { TurnOptions } from './agent/turn/run-turn.ts';
export type { TurnOutcome } from './ports/turn-outcome.ts';
export type { Bundle, LoadedResource, Scope } from './config/bundle/bundle.ts';
export type { BundleProblem } from './config/bundle/bundle-problem.ts';
export { findBundlePackage } from './config/bundle/files/find-package.ts';
export { readTextFile, refusalText, type TextFile } from './config/bundle/files/text-file.ts';
export { findPackageUses, type PackageUse } from './config/bundle/find-package-uses.ts';
export { type BundlePorts, type BundleSwarms, loadBundle, loadSwarms } from './config/bundle/load-bundle.ts';
export { AGENT_TOOL_NAMES } from './config/bundle/agent-tools.ts';
export { type DeclaredAgents, declaredAgents } from './config/bundle/resolve/declared-agents.ts';
export { type ResolvedSwarm, type ResolveOptions, resolveSwarm } from './config/bundle/resolve/resolve-swarm.ts';
export { partsDigest } from './config/parts-digest.ts';
export { planDigest } from './config/plan-digest.ts';
export { type PlanReconcile, planReconcile } from './config/plan-reconcile.ts';
export type { DeclaredAgent } from './config/declared-agent.ts';
export type { DeclaredExtension, Tier } from './config/declared-extension.ts';
export type { DeclaredTool, ToolExport } from './config/declared-tool.ts';
export type { ModelSpec } from './config/model-spec.ts';
export { type ProviderVariables, providerVariables } from './config/provider-variables.ts';
export type { ConnectionPlan, SwarmPlan } from './config/swarm-plan.ts';
export type { SwarmPolicy } from './config/swarm-policy.ts';
export { type ConnectOptions, connectSwarm, type ControlPlace } from './control/connect-swarm.ts';
export { toAgentAddress, toInstanceAddress } from './control/instance-address.ts';
export { controlSocketPath, type SocketEnvironment, systemSocketEnvironment } from './control/control-socket-path.ts';
export { type BodyBounds, readJsonBody, type RefuseBody } from './control/read-json-body.ts';
export type {
  Acceptance,
  ApprovalNotice,
  ApprovalReply,
  ApprovalSummary,
  AskOptions,
  ConnectionStatus,
  DeadLetterSummary,
  Delivery,
  DeltaNotice,
  InstanceAddress,
  InstanceChoice,
  InstanceNotice,
  InstanceStatus,
  RuntimeEventNotice,
  StopOptions,
  Swarm,
  SwarmNotice,
  SwarmStatus,
  SwarmWatch,
  TurnEnd,
  WatchFilter,
} from './control/swarm.ts';
export { type DefinedSwarm, defineSwarm, type ResourceDefinition, type SwarmDefinition } from './define-swarm.ts';
export type { Change } from './json/diff-json.ts';
export { SendQueue, type SendQueueParts } from './ipc/channel/send-queue.ts';
export type { LossyKind } from './ipc/codec.ts';
export type { AgentDescription, LayerSummary, RegisteredToolSummary } from './ipc/from-agent.ts';
export { maskSecrets } from './log/mask-secrets.ts';
export { childEnvironment } from './orchestrator/child/child-environment.ts';
export { closestName } from './config/closest-name.ts';
export { controlStatusByCode } from './orchestrator/control/refuse.ts';
export { deleteStoppedInstance, forkStoppedInstance, type StoppedSwarm } from './orchestrator/stopped-swarm.ts';
export { type InspectOptions, inspectAgent } from './orchestrator/lone/inspect-agent.ts';
export type { ExtensionChanges } from './orchestrator/lone/change-extensions.ts';
export {
  type DivergenceCause,
  type ExplainedDivergence,
  type ReplayOptions,
  type ReplayedRun,
  replayRecording,
  type ReplayReport,
} from './orchestrator/lone/replay-recording.ts';
export { isBelowSwarm } from './orchestrator/guardian/is-below-swarm.ts';
export { canReadProcesses } from './orchestrator/guardian/read-processes.ts';
export { agentRunner, connectorRunner } from './orchestrator/child/runner-path.ts';
export { describeChanges } from './orchestrator/reload/reload-swarm.ts';
export { gracePeriodMs } from './orchestrator/plan/swarm-settings.ts';
export { type Clock, sleep, systemClock } from './ports/clock.ts';
export { countedIds, eventIdOf, type Ids, randomIds } from './ports/ids.ts';
export { type StartSwarmOptions, startSwarm } from './start-swarm.ts';
export { type CollectorProbe, probeCollector } from './telemetry/probe-collector.ts';
export type {
  ChainSpan,
  LayerSpan,
  TurnObserver,
  SpanStart,
  WatchedEffect,
  WatchedEnd,
  WatchedLayer,
  WatchedTurn,
} from './trace/layer-span.ts';
export type { EffectKind, EffectRecord } from './trace/effect-record.ts';
export type { Recording } from './trace/recording.ts';
export type { Divergence, ReplayOutcome } from './trace/replay.ts';
export { recordTurn, type TurnRecorder } from './trace/record-turn.ts';
export { renderMermaid } from './trace/render-mermaid.ts';
export { describeExtensionStatus } from './trace/describe-extension-status.ts';
export { type RenderOptions, renderTrace } from './trace/render-trace.ts';
export type { ChainRecord, LayerRecord, MissingRecords, TurnSummary, TurnTrace } from './trace/turn-trace.ts';
export { newTraceId } from './trace/span-id.ts';
export {
  type LoadedAgent,
  readDescription,
  type RecordedAgent,
  recordDescriptions,
} from './workspace/swarms/agent-descriptions.ts';
export { keepKnownTools } from './workspace/swarms/keep-known-tools.ts';
export type { EventOrigin } from './workspace/records/logged-record.ts';
export type { ArchivedEvent, ArchivedTurn } from './workspace/archive/read-archive.ts';
export { durableStore, type DurableStoreOptions } from './workspace/journal/durable-store.ts';
export { type Blame, blame, type BlameQuestion } from './workspace/history/blame.ts';
export type { BlamedMessage, ReplacedMessages } from './workspace/history/blamed-message.ts';
export type { Moment } from './workspace/history/fold-history.ts';
export type { ExtensionStates, HistoryStart } from './workspace/history/history-start.ts';
export type { KeptHistory } from './workspace/history/kept-history.ts';
export { type ConversationAt, readConversationAt } from './workspace/history/read-conversation-at.ts';
export {
  type HistoryEvent,
  type HistoryPage,
  type HistoryQuestion,
  type HistorySource,
  type HistoryTurn,
  readHistory,
} from './workspace/history/read-history.ts';
export { pendingInputs } from './workspace/journal/instance-refusals.ts';
export {
  type SalvagedConversation,
  salvageConversation,
  describeDamage,
} from './workspace/journal/salvage-conversation.ts';
export type { ForkedInstance, ForkOptions } from './workspace/journal/fork-instance.ts';
export type { DeletedInstance, DeleteOptions, Journal } from './workspace/journal/journal.ts';
export type { ForkOrigin } from './workspace/records/metadata.ts';
export {
  instancesChangedAt,
  type ListedWorkspace,
  listWorkspaces,
  workspaceIds,
} from './workspace/swarms/list-workspaces.ts';
export { type KnownSwarm, listKnownSwarms } from './workspace/swarms/list-known-swarms.ts';
export { workspaceFolder } from './workspace/layout/instance-paths.ts';
export { readSwarmRecord } from './workspace/swarms/swarm-record.ts';
export { type StateRootChoice, stateRoot } from './workspace/layout/state-root.ts';
export { workspaceId, type WorkspaceNames } from './workspace/layout/workspace-id.ts';
export { type KeptRecording, readRecording } from './workspace/traces/read-recording.ts';
export {
  type ListTurnsOptions,
  listTurns,
  type ReadTrace,
  readTurnTrace,
  type TracePlace,
} from './workspace/traces/read-turn-trace.ts';
export { isTrusted, rememberTrust, type TrustedFolder } from './workspace/trust/trusted-folders.ts';
export { type LogQuestion, readSwarmLog } from './workspace/logs/read-swarm-log.ts';
