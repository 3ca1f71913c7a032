/**
 * What the control socket answers, as its client reads it. Fields that a newer server adds are let go; dates, which
 * travel as text, are dates again.
 */
import type { AgentInstance, ApprovalOutcome } from '@goondan/types';
import { agentAddress, agentInstance } from '../ipc/check/agent-event.ts';
import { extensionStatusChanged } from '../ipc/check/extension-status.ts';
import { type FrameError, frameError } from '../ipc/check/frame-error.ts';
import {
  type Check,
  count,
  type FieldsOf,
  flag,
  jsonObject,
  listOf,
  literal,
  Misfit,
  name,
  number,
  object,
  oneByField,
  oneOf,
  optional,
  text,
} from '../ipc/check/shape.ts';
import { tokenUsage, turnResult } from '../ipc/check/turn-result.ts';
import { logLine, turnDelta } from '../ipc/from-agent.ts';
import type { PlanReconcile } from '../config/plan-reconcile.ts';
import type { SwarmGreeting } from './endpoints.ts';
import type {
  Acceptance,
  ApprovalNotice,
  ApprovalSummary,
  ConnectionStatus,
  DeadLetterSummary,
  DeltaNotice,
  InstanceNotice,
  InstanceStatus,
  RuntimeEventNotice,
  SwarmNotice,
  SwarmStatus,
  TurnEnd,
} from './swarm-control.ts';

const yes: Check<true> = (value) => {
  if (value !== true) throw new Misfit('is not true');
  return value;
};

export const acceptance: Check<Acceptance> = object({
  accepted: yes,
  eventId: name,
  agent: name,
  instanceKey: name,
  turnId: name,
  traceId: name,
  duplicate: flag,
} satisfies FieldsOf<Acceptance>);

export const turnEnd: Check<TurnEnd> = object({
  agent: name,
  instanceKey: name,
  eventId: name,
  traceId: name,
  result: turnResult,
  stepCount: count,
  usage: tokenUsage,
} satisfies FieldsOf<TurnEnd>);

const approvalSummary: Check<ApprovalSummary> = object({
  id: name,
  agent: name,
  instanceKey: name,
  eventId: name,
  traceId: name,
  toolCallId: name,
  toolName: name,
  args: jsonObject,
  digest: name,
  reason: text,
  askedAt: name,
  expiresAt: name,
} satisfies FieldsOf<ApprovalSummary>);

const approvalOutcome: Check<ApprovalOutcome> = object({
  decision: oneOf('approved', 'denied', 'expired'),
  by: optional(text),
  note: optional(text),
} satisfies FieldsOf<ApprovalOutcome>);

export const swarmNotice: Check<SwarmNotice> = oneByField<'type', SwarmNotice>('type', {
  delta: () =>
    object({
      type: literal('delta'),
      at: agentAddress,
      eventId: name,
      delta: turnDelta,
      soFar: optional(oneOf('all', 'end')),
    } satisfies FieldsOf<DeltaNotice>),
  'runtime.event': () =>
    object({
      type: literal('runtime.event'),
      at: agentAddress,
      name,
      payload: jsonObject,
    } satisfies FieldsOf<RuntimeEventNotice>),
  'turn.ended': () => object({ type: literal('turn.ended'), end: turnEnd }),
  log: () => object({ type: literal('log'), line: logLine }),
  approval: () =>
    object({
      type: literal('approval'),
      state: oneOf('asked', 'decided', 'withdrawn'),
      at: agentAddress,
      approval: approvalSummary,
      outcome: optional(approvalOutcome),
    } satisfies FieldsOf<ApprovalNotice>),
  instance: () =>
    object({
      type: literal('instance'),
      at: agentAddress,
      change: oneOf('forked', 'reset', 'deleted'),
    } satisfies FieldsOf<InstanceNotice>),
  dropped: () => object({ type: literal('dropped'), count }),
});

const processFields = object({
  pid: optional(number),
  queued: count,
  crashes: count,
  problem: optional(text),
  approvals: optional(count),
  extensions: optional(listOf(extensionStatusChanged)),
} satisfies FieldsOf<Omit<InstanceStatus, keyof AgentInstance>>);

const instanceStatus: Check<InstanceStatus> = (value) => ({ ...agentInstance(value), ...processFields(value) });

const connectionStatus: Check<ConnectionStatus> = object({
  connection: name,
  status: oneOf('starting', 'listening', 'waiting', 'stopped'),
  pid: optional(number),
  crashes: count,
  problem: optional(text),
} satisfies FieldsOf<ConnectionStatus>);

export const swarmStatus: Check<SwarmStatus> = object({
  swarm: name,
  workspaceId: name,
  pid: number,
  startedAt: name,
  version: name,
  entryAgent: name,
  agents: listOf(name),
  instances: listOf(instanceStatus),
  connections: listOf(connectionStatus),
} satisfies FieldsOf<SwarmStatus>);

const deadLetter: Check<DeadLetterSummary> = object({
  agent: name,
  instanceKey: name,
  eventId: name,
  input: optional(text),
  crashes: count,
  reason: text,
  deadAt: name,
} satisfies FieldsOf<DeadLetterSummary>);

export const swarmGreeting: Check<SwarmGreeting> = object({
  protocol: number,
  status: swarmStatus,
} satisfies FieldsOf<SwarmGreeting>);

export const instancesAnswer = object({ instances: listOf(instanceStatus) });
export const deleteAnswer = object({ deleted: yes, inputs: optional(count) });
export const forkAnswer = object({
  forked: yes,
  seq: optional(count),
  messages: count,
  unknownStates: listOf(name),
  problems: optional(listOf(text)),
});
export const deadLettersAnswer = object({ deadLetters: listOf(deadLetter) });
export const cancelAnswer = object({ cancelled: flag });
export const retryAnswer = object({ retried: flag });
export const dropAnswer = object({ dropped: flag });
export const approvalsAnswer = object({ approvals: listOf(approvalSummary) });
export const approveAnswer = object({ approved: flag });
export const denyAnswer = object({ denied: flag });
export const restartAnswer = object({ restarted: count });
export const reloadAnswer: Check<PlanReconcile> = object({
  kept: listOf(name),
  changed: listOf(name),
  added: listOf(name),
  removed: listOf(name),
} satisfies FieldsOf<PlanReconcile>);

export const errorAnswer: Check<{ readonly error: FrameError }> = object({ error: frameError });
/** Of a server whose catalogue is newer than ours. */
export const foreignErrorAnswer = object({ error: object({ code: name, message: text, suggestion: optional(text) }) });
