/** `@goondan/runtime/history`: keeps conversations, and reads their events, traces, logs and recordings. */
export type {
  BaseDelta,
  ConversationSnapshot,
  ConversationStore,
  EventAuthor,
  InputOrigin,
  OpenTurn,
  TurnRecord,
} from './agent/conversation/conversation-store.ts';
export { memoryStore } from './agent/conversation/memory-store.ts';
export type { ExtensionChanges } from './orchestrator/lone/change-extensions.ts';
export type {
  DivergenceCause,
  ExplainedDivergence,
  ReplayOptions,
  ReplayedRun,
  ReplayReport,
} from './orchestrator/lone/replay-recording.ts';
export { type CallPrompt, type PromptsQuestion, readPrompts, type TurnPrompts } from './read-prompts.ts';
export { replayRecording } from './replay-recording.ts';
export { openStoreReader } from './store/files/open-store-reader.ts';
export type { Answers, LeftAnswer } from './store/answers.ts';
export type { QuestionStore } from './store/question-store.ts';
export { type StoredQuestions, storedQuestions } from './store/stored-questions.ts';
export type {
  BundleOfNode,
  ClusterNode,
  ClusterPlacement,
  FailoverListener,
  InstancePage,
  StoredInstance,
  ClusterSource,
  ClusterStore,
  ConnectionFence,
  ConnectionLease,
  ConnectionLeases,
  Deployment,
  Deployments,
  LogSink,
  NewDeployment,
  PendingEvent,
  NodeFacts,
  RemoteCalls,
  Tokens,
  TokenScope,
} from './store/cluster-store.ts';
export type {
  ConversationLog,
  FrameCommit,
  LogFrame,
  NewCheckpoint,
  StoredAnswer,
  StoredLog,
} from './store/conversation-log.ts';
export type { AgentBlobs, BlobOwner, BlobReader, Blobs } from './store/blobs.ts';
export type { LostFile } from './workspace/blobs/find-lost-files.ts';
export type { Counters } from './store/counters.ts';
export type { Claim, CounterWindow, Reservation, ReserveOutcome, WaitingReservation } from './counters/claim.ts';
export type { Inbox } from './store/inbox.ts';
export type { DeadLetters, InstanceAdmin } from './store/instance-admin.ts';
export type { Placement, StoreNode } from './store/placement.ts';
export type {
  Directory,
  HistoryReader,
  LogReader,
  ReadUsage,
  SwarmList,
  TraceReader,
  UsageReader,
} from './store/readers.ts';
export type { InstanceSpending, PaidModel, Spending } from './usage/spending.ts';
export type { EventSink, TraceSink } from './store/sinks.ts';
export type { AgentStore, NodeStore, Store, StoreReader } from './store/store.ts';
export type { EffectKind, EffectRecord } from './trace/effect-record.ts';
export type { PlanUse } from './trace/plans-of.ts';
export type { Recording } from './trace/recording.ts';
export { recordTurn, type TurnRecorder } from './trace/record-turn.ts';
export { renderMermaid } from './trace/render-mermaid.ts';
export { type RenderOptions, renderTrace } from './trace/render-trace.ts';
export type { Divergence, ReplayOutcome } from './trace/replay.ts';
export type { ChainRecord, LayerRecord, MissingRecords, TurnSummary, TurnTrace } from './trace/turn-trace.ts';
export type { ArchivedEvent, ArchivedTurn, OpenArchivedTurn } from './workspace/archive/read-archive.ts';
export { type Blame, blame, type BlameQuestion } from './workspace/history/blame.ts';
export type { BlamedMessage, ReplacedMessages } from './workspace/history/blamed-message.ts';
export type { Moment } from './workspace/history/fold-history.ts';
export type { HistoryStart } from './workspace/history/history-start.ts';
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
export { durableStore, type DurableStoreOptions } from './workspace/journal/durable-store.ts';
export type { Journal } from './workspace/journal/journal.ts';
export { readQuestions, type StoredValue } from './ipc/check/stored-question.ts';
export type { AnsweredQuestion, QuestionRecord } from './questions/question-record.ts';
export type { Accepted } from './workspace/inbox/open-inbox.ts';
export type { InboxEntry } from './workspace/inbox/inbox-line.ts';
export type { InstanceSummary } from './workspace/journal/read-summary.ts';
export type { DeadLetter } from './workspace/records/dead-letter.ts';
export type { StorePlace } from './workspace/layout/instance-paths.ts';
export { type LogQuestion, readSwarmLog } from './workspace/logs/read-swarm-log.ts';
export type { EventOrigin } from './workspace/records/logged-record.ts';
export { type KeptRecording, readRecording } from './workspace/traces/read-recording.ts';
export type { TurnRequests, UnsentCall } from './workspace/traces/read-requests.ts';
export type {
  PartAuthor,
  PromptProblem,
  RebuiltCall,
  RebuiltMessage,
  RebuiltParam,
  RebuiltRequest,
  RebuiltTool,
} from './workspace/traces/rebuilt-call.ts';
export { type ListTurnsOptions, listTurns, type ReadTrace, readTurnTrace } from './workspace/traces/read-turn-trace.ts';
