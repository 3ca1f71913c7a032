/**
 * Checks the answers of the control socket for its client. Fields that only a newer server knows are ignored. Dates are
 * sent as text and are converted back to dates.
 */
import { alwaysScopes } from '@goondan/types';
import { approvalOutcomeFields } from '../ipc/check/approval-outcome.ts';
import { asking } from '../ipc/check/asking.ts';
import { instanceState } from '../ipc/check/instance-state.ts';
import { logLine } from '../ipc/check/log-line.ts';
import { extensionStatusChanged, extensionStatusFields } from '../ipc/check/extension-status.ts';
import { type FrameError, frameError } from '../ipc/check/frame-error.ts';
import {
  type Check,
  count,
  type FieldsOf,
  flag,
  jsonObject,
  listOf,
  ShapeError,
  name,
  number,
  object,
  oneByField,
  oneOf,
  optional,
  type ShapeOf,
  text,
} from '../ipc/check/shape.ts';
import { turnDelta } from '../ipc/check/turn-delta.ts';
import { tokenUsage, turnResult } from '../ipc/check/turn-result.ts';
import type { AgentChange, ChangeReport, ReloadResult } from './reload-result.ts';
import type { GrantSummary } from '../questions/grant-summary.ts';
import { questionKinds, type QuestionSummary } from '../questions/question-record.ts';
import type { ForkedInstance } from '../workspace/journal/fork-instance.ts';
import type {
  Acceptance,
  QuestionNotice,
  ConnectionStatus,
  DeadLetterSummary,
  DeltaNotice,
  InstanceAddress,
  InstanceNotice,
  InstanceStatus,
  KeptStatus,
  NodeStatus,
  RuntimeEventNotice,
  SwarmNotice,
  SwarmStatus,
  TurnEnd,
} from './swarm.ts';

export const yes: Check<true> = (value) => {
  if (value !== true) throw new ShapeError('is not true');
  return value;
};

export const address: ShapeOf<InstanceAddress> = { agent: name, instanceKey: name };

export const acceptanceShape: ShapeOf<Acceptance> = {
  accepted: yes,
  eventId: name,
  ...address,
  turnId: name,
  traceId: name,
  duplicate: flag,
};

export const turnEndShape: ShapeOf<TurnEnd> = {
  ...address,
  eventId: name,
  traceId: name,
  result: turnResult,
  stepCount: count,
  usage: tokenUsage,
  called: optional(tokenUsage),
};

export const questionSummary: Check<QuestionSummary> = object({
  id: name,
  ...address,
  eventId: name,
  traceId: name,
  root: optional(object({ connection: name, eventId: name, auth: optional(jsonObject) })),
  toolCallId: name,
  toolName: name,
  kind: oneOf(...questionKinds),
  askedBy: optional(asking),
  args: jsonObject,
  schema: optional(jsonObject),
  url: optional(text),
  fingerprint: optional(name),
  digest: name,
  reason: text,
  askedAt: name,
  expiresAt: name,
} satisfies FieldsOf<QuestionSummary>);

export const grantSummary: Check<GrantSummary> = object({
  id: name,
  ...address,
  toolName: name,
  always: oneOf(...alwaysScopes),
  args: optional(jsonObject),
  host: optional(text),
  askedBy: optional(asking),
  reason: text,
  by: optional(text),
  via: optional(text),
  decidedAt: name,
} satisfies FieldsOf<GrantSummary>);

const notices = {
  delta: () =>
    ({
      at: object(address),
      eventId: name,
      delta: turnDelta,
      soFar: optional(oneOf('all', 'end')),
    }) satisfies FieldsOf<Omit<DeltaNotice, 'type'>>,
  'runtime.event': () =>
    ({
      at: object(address),
      name,
      payload: jsonObject,
    }) satisfies FieldsOf<Omit<RuntimeEventNotice, 'type'>>,
  'turn.ended': () => ({ end: object(turnEndShape) }),
  log: () => ({ line: logLine }),
  question: () =>
    ({
      state: oneOf('asked', 'decided', 'withdrawn'),
      at: object(address),
      question: questionSummary,
      outcome: optional(object(approvalOutcomeFields)),
    }) satisfies FieldsOf<Omit<QuestionNotice, 'type'>>,
  instance: () =>
    ({
      at: object(address),
      change: oneOf('forked', 'reset', 'deleted'),
    }) satisfies FieldsOf<Omit<InstanceNotice, 'type'>>,
  dropped: () => ({ count }),
} satisfies Record<SwarmNotice['type'], unknown>;

export const swarmNotice: Check<SwarmNotice> = oneByField('type', notices);

/** The types of notices. Safe: these are the keys of `notices`, although the compiler types them as any text. */
export const noticeTypes = Object.keys(notices) as (keyof typeof notices)[];

/** Returns true if this version knows the type of the notice; a newer server may send other types. */
export function isNotice(event: string): boolean {
  return Object.hasOwn(notices, event);
}

export const instanceStatus: Check<InstanceStatus> = object<ShapeOf<InstanceStatus>>({
  ...address,
  status: instanceState,
  node: optional(name),
  pid: optional(number),
  queued: count,
  crashes: count,
  problem: optional(text),
  questions: optional(count),
  limitWait: optional(object({ limit: text, waitedMs: number })),
  lastBlocked: optional(object({ code: text, agoMs: number })),
  extensions: optional(listOf(extensionStatusChanged)),
});

const connectionStatus: Check<ConnectionStatus> = object({
  connection: name,
  node: optional(name),
  status: oneOf('starting', 'listening', 'waiting', 'stopped'),
  pid: optional(number),
  crashes: count,
  problem: optional(text),
} satisfies FieldsOf<ConnectionStatus>);

const keptStatus: Check<KeptStatus> = object<ShapeOf<KeptStatus>>({
  agent: name,
  extension: name,
  instanceKey: optional(name),
  status: oneOf('starting', 'listening', 'waiting', 'stopped'),
  pid: optional(number),
  crashes: count,
  problem: optional(text),
  server: optional(object({ ...extensionStatusFields, since: name })),
});

const agentChange: Check<AgentChange> = object<ShapeOf<AgentChange>>({
  agent: name,
  parts: listOf(object({ identity: name, fate: oneOf('retained', 'updated', 'added', 'removed') })),
  reordered: optional(flag),
  replaced: optional(text),
  renewed: optional(listOf(name)),
  ended: optional(listOf(name)),
  leaving: optional(listOf(name)),
  removed: optional(flag),
  finishing: listOf(name),
});

const agentChanges = listOf(agentChange);

const changeReport: Check<ChangeReport> = object<ShapeOf<ChangeReport>>({
  at: name,
  message: text,
  changeset: optional(object({ id: name, agent: name, undone: optional(flag), by: optional(text) })),
  agents: optional(agentChanges),
  error: optional(frameError),
});

const nodeStatus: Check<NodeStatus> = object<ShapeOf<NodeStatus>>({
  name,
  version: name,
  since: name,
  address: optional(name),
  processes: count,
  instances: count,
  isDraining: optional(flag),
  missing: optional(listOf(text)),
  problem: optional(text),
});

export const statusShape: ShapeOf<SwarmStatus> = {
  swarm: name,
  workspaceId: name,
  pid: number,
  startedAt: name,
  version: name,
  entryAgent: name,
  agents: listOf(name),
  instances: listOf(instanceStatus),
  connections: listOf(connectionStatus),
  kept: optional(listOf(keptStatus)),
  changes: optional(listOf(changeReport)),
  nodes: optional(listOf(nodeStatus)),
  missing: optional(listOf(text)),
  oneShot: optional(yes),
};

export const deadLetter: Check<DeadLetterSummary> = object({
  ...address,
  eventId: name,
  input: optional(text),
  crashes: count,
  reason: text,
  deadAt: name,
} satisfies FieldsOf<DeadLetterSummary>);

export const forkShape: ShapeOf<ForkedInstance> = {
  seq: optional(count),
  messages: count,
  unknownStates: listOf(name),
  problems: optional(listOf(text)),
};

export const reloadShape: ShapeOf<ReloadResult> = {
  kept: listOf(name),
  changed: listOf(name),
  added: listOf(name),
  removed: listOf(name),
  agents: agentChanges,
  fields: optional(listOf(name)),
  retried: optional(listOf(object(address))),
};

export const errorAnswer: Check<{ readonly error: FrameError }> = object({ error: frameError });
/** The shape of an error from a newer server, whose code may not be in this version's catalogue. */
export const foreignErrorAnswer = object({ error: object({ code: name, message: text, suggestion: optional(text) }) });
