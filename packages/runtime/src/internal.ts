/**
 * `@goondan/runtime/internal`: further names for the other packages of this repository. This entry point is not covered
 * by semantic versioning: any release may change or remove a name here. Import it only if you pin the exact version. It
 * works only in Bun.
 */
// oxlint-disable-next-line import/no-unassigned-import -- it throws in Node, before anything else is loaded
import './bun-only.ts';
export type { ExtensionDeclaration } from './agent/extension/load-extension.ts';
export type { Model } from './agent/model/model-port.ts';
export type { ToolDeclaration } from './agent/tool/load-tool.ts';
export { AGENT_TOOL_NAMES } from './config/bundle/agent-tools.ts';
export { type KeptOut, packBundle, unpackBundle } from './workspace/packs/pack-bundle.ts';
export { BASE_LIBRARY } from './config/bundle/base-library.ts';
export { findResource } from './config/bundle/find-resource.ts';
export { configOf, newNameOf, referenceOf } from './config/bundle/references.ts';
export { closestName } from './config/closest-name.ts';
export { partsDigest } from './config/parts-digest.ts';
export { providerVariables } from './config/provider-variables.ts';
export { summariseDeadLetter } from './control/summarise-dead-letter.ts';
export { typedAsk } from './control/typed-ask.ts';
export { typedWatch } from './control/watch-swarm.ts';
export { SendQueue } from './ipc/channel/send-queue.ts';
export {
  type Check,
  exactObject,
  listOf,
  jsonObject,
  flag,
  ShapeError,
  name,
  type ObjectOf,
  oneOf,
  type Optional,
  optional,
  text,
} from './ipc/check/shape.ts';
export { describeUnfit } from './files/describe-unfit.ts';
export type { LossyKind } from './ipc/codec.ts';
export type { AgentDescription, LayerSummary } from './ipc/from-agent.ts';
export type { FileChange } from './ipc/changeset-answers.ts';
export type { Change } from './json/diff-json.ts';
export { maskSecrets } from './log/mask-secrets.ts';
export { childEnvironment } from './orchestrator/child/child-environment.ts';
export { agentRunner, connectorRunner, guardianRunner, keeperRunner } from './ports/runner-path.ts';
export { addressKey, isSameAddress } from './orchestrator/address/address-key.ts';
export { controlStatusByCode } from './orchestrator/control/refuse.ts';
export { isBelowSwarm } from './orchestrator/guardian/is-below-swarm.ts';
export { canReadProcesses } from './orchestrator/guardian/read-processes.ts';
export { inspectAgent } from './orchestrator/lone/inspect-agent.ts';
export { gracePeriodMs } from './orchestrator/plan/swarm-settings.ts';
export { openQuestions } from './orchestrator/open-questions.ts';
export {
  deleteStoppedInstance,
  exportStoppedSwarm,
  forkStoppedInstance,
  type RestoredSwarm,
  restoreStoppedSwarm,
} from './orchestrator/stopped-swarm.ts';
export {
  abandonReservation,
  beginReservations,
  type Changed,
  endReservation,
  raiseLimit,
  type ReadState,
  reserveClaims,
} from './counters/change-counters.ts';
export { counterLimits } from './counters/claim.ts';
export type { CounterState, CounterMoment } from './counters/counter-state.ts';
export { notReserved, tooManyCounters } from './counters/counter-table.ts';
export { type Clock, sleep, systemClock, waitAtMost } from './ports/clock.ts';
export { findInInstances } from './orchestrator/control/find-queued-turn.ts';
export { eventIdOf, randomIds, retryIdOf, turnIdOf } from './ports/ids.ts';
export { ambiguousId, findTurnId, shortIdOfEvent, shortTurnId } from './ports/turn-ids.ts';
export { probeCollector } from './telemetry/probe-collector.ts';
export { backUpFiles } from './store/files/backup-files.ts';
export { readStoredQuestions } from './store/files/stored-file-questions.ts';
export { openSwarmList } from './store/files/open-swarm-list.ts';
export { advanceKeptStart } from './store/log/advance-kept-start.ts';
export { callerOf } from './store/log/caller-of.ts';
export { encodeCheckpoint } from './store/log/log-checkpoint.ts';
export { forkFrames } from './store/log/log-frames.ts';
export { loggedConversations } from './store/log/logged-conversations.ts';
export { lettersOf, openLoggedAdmin } from './store/log/open-logged-admin.ts';
export { readArchivedTurns } from './store/log/read-archived-turns.ts';
export { type ReadStoredLog, readStoredLog, snapshotOf } from './store/log/read-stored-log.ts';
export { bundleSource } from './read-folder-plan.ts';
export { type NodeToStart, startHere } from './start-here.ts';
export type { ClusterOptions } from './orchestrator/start/join-cluster.ts';
export { nodeWorkspaceId } from './workspace/layout/workspace-id.ts';
export { findContentProblem } from './questions/read-form.ts';
export { describeDuration } from './trace/describe-duration.ts';
export { describeTurnUsage } from './trace/describe-tokens.ts';
export { hasPassedOn } from './trace/passed-on.ts';
export { describePlans } from './trace/plans-of.ts';
export { describeExtensionStatus } from './trace/describe-extension-status.ts';
export type { Backup } from './workspace/backup/back-up-workspace.ts';
export type { BackupProgress } from './workspace/backup/backup-writer.ts';
export type { ChangesetRecord } from './workspace/changesets/changeset-record.ts';
export type { Changesets, ChangesetsPlace, ComparedFile } from './workspace/changesets/changesets.ts';
export { openChangesets } from './workspace/changesets/open-changesets.ts';
export { describeFiles } from './workspace/changesets/describe-files.ts';
export { describeRecovery } from './workspace/changesets/describe-recovery.ts';
export { unifiedDiff } from './workspace/changesets/unified-diff.ts';
export { decodeStart, emptyStart } from './workspace/history/history-start.ts';
export { addInputDamage, readFork } from './workspace/journal/fork-instance.ts';
export { pendingInputs, takenKey, unknownInstance } from './workspace/journal/instance-refusals.ts';
export { describeDamage, salvageConversation } from './workspace/journal/salvage-conversation.ts';
export { instanceFolderName, workspaceFolder } from './workspace/layout/instance-paths.ts';
export { openSpending } from './store/log/open-spending.ts';
export { KEPT_DAYS, SpendingSum } from './usage/spending.ts';
export { NO_USAGE, ownUsage, sumUsage } from './ports/token-usage.ts';
export { answerOf, decodeReply, encodeReply } from './workspace/records/reply.ts';
export { type LoadedAgent, type RecordedAgent, recordDescriptions } from './workspace/swarms/agent-descriptions.ts';
export { keepKnownTools } from './workspace/swarms/keep-known-tools.ts';
export type { KnownSwarm } from './workspace/swarms/list-known-swarms.ts';
export type { ListedWorkspace } from './workspace/swarms/list-workspaces.ts';
export { defaultLimits, type RotationLimits } from './workspace/limits.ts';
export { memoryBlobs } from './store/memory-blobs.ts';
export { damagedFile, unknownFile } from './store/unknown-file.ts';
export { findCounterDamage } from './workspace/counters/counter-file.ts';
export { describeLostFile } from './workspace/blobs/find-lost-files.ts';
export { sha256 } from './json/sha256.ts';
export { toInputPart } from './files/to-input-part.ts';
export { summarise as summariseTurn } from './trace/assemble-turn.ts';
export { decodeTraceLines } from './trace/decode-trace-lines.ts';
export { pathSegment } from './workspace/layout/path-segment.ts';
export { LogBuffer } from './workspace/logs/log-buffer.ts';
export { decodeLine as decodeLogLine } from './workspace/logs/log-text.ts';
export { isAskedFor } from './workspace/logs/read-swarm-log.ts';
export { openArchivedTurn } from './workspace/archive/read-archive.ts';
export { readRecordingOf } from './workspace/traces/read-recording.ts';
export { readRequestsOf } from './workspace/traces/read-requests.ts';
export { listTurnsOf, readTraceOf } from './workspace/traces/read-turn-trace.ts';
export { whenOf } from './workspace/traces/trace-names.ts';
export type { RecordedTurn, TraceSource, WantedTurns } from './workspace/traces/trace-source.ts';
export { type LimitedTurn, textWithin, type TurnLine } from './workspace/traces/trace-writer.ts';
export { corruptLine, damagedConversation, nameInstance } from './store/log/name-instance.ts';
export type { UncheckedListener } from './workspace/archive/read-committed-turns.ts';
export { followLinks } from './workspace/layout/follow-links.ts';
export { isCorrupt } from './workspace/lines/corrupt-store.ts';
export type { ExportedLog } from './store/export/export-instance.ts';
export type { ExportedInstance, ExportedTrace, SwarmExport } from './store/files/open-export.ts';
