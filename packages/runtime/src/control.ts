/** `@goondan/runtime/control`: finds a running swarm, and exports the types of its methods and notices. */
export { connectNode, type ConnectOptions, type ControlPlace } from './control/connect-swarm.ts';
export type { NodePlace } from './control/control-socket.ts';
export { controlSocketPath, type SocketEnvironment, systemSocketEnvironment } from './control/control-socket-path.ts';
export { toAgentAddress, toInstanceAddress } from './control/instance-address.ts';
export type { AgentChange, ChangeReport, ReloadResult, ReportedChangeset } from './control/reload-result.ts';
export type {
  QuestionNotice,
  ConnectionStatus,
  KeptStatus,
  DeadLetterSummary,
  DeltaNotice,
  InstanceChoice,
  InstanceNotice,
  NodeStatus,
  RuntimeEventNotice,
  StopOptions,
} from './control/swarm.ts';
export { newTraceId } from './trace/span-id.ts';
export type { ForkedInstance, ForkOptions } from './workspace/journal/fork-instance.ts';
export type { DeletedInstance, DeleteOptions } from './workspace/journal/journal.ts';
export { type StateRootChoice, stateRoot } from './workspace/layout/state-root.ts';
export { workspaceId, type WorkspaceNames } from './workspace/layout/workspace-id.ts';
export type { ForkOrigin } from './workspace/records/metadata.ts';
export type { GrantRevocation, GrantSummary } from './questions/grant-summary.ts';
export type { Asking, QuestionKind } from './questions/question-record.ts';
export { type FormField, readForm } from './questions/read-form.ts';
export { type AnswerableQuestion, findReplyProblem } from './questions/check-reply.ts';
