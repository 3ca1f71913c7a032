/** Converts the frame of a question into the question for people and the record on disk. */
import type { AgentAddress, AgentEvent, JsonObject } from '@goondan/types';
import type { FrameError } from '../../ipc/check/frame-error.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import { defined } from '../../json/defined.ts';
import { digestJson } from '../../json/digest-json.ts';
import { type Mask, maskJson } from '../../log/mask-secrets.ts';
import { checkPage } from '../../questions/check-page.ts';
import { questionDigest } from '../../questions/question-digest.ts';
import type { QuestionAnswer, QuestionRecord } from '../../questions/question-record.ts';
import { readForm } from '../../questions/read-form.ts';
import { rootOf } from '../address/root-of.ts';

export type AskFrame = Extract<FromAgent, { readonly type: 'question.ask' }>;

export interface AskedQuestion {
  readonly at: AgentAddress;
  /** The event of the running turn. */
  readonly during: AgentEvent;
  readonly frame: AskFrame;
  readonly now: Date;
  readonly mask: Mask;
}

/** The maximum size of the arguments of a question, in bytes, also of the diff of a changeset. A person would not read more. */
export const LONGEST_ARGUMENTS = 256_000;
const LONGEST_REASON = 4_000;
const LONGEST_WAIT_MS = 30 * 86_400_000;

/** The maximum size of the schema of a tool in a question, in bytes. A larger one is left out. */
const LONGEST_SCHEMA = 64_000;

/**
 * Returns the record to store, or the reason why the question is rejected. The contents of the frame are checked here,
 * even if its process has checked them before.
 */
export function newRecord(asked: AskedQuestion, id: string): QuestionRecord | FrameError {
  const { at, during, frame, now, mask } = asked;
  const { key, toolCallId, toolName, reason, expiresInMs, kind, askedBy, fingerprint, url } = frame;
  const size = Buffer.byteLength(JSON.stringify(frame.args));
  if (size > LONGEST_ARGUMENTS) {
    return wrong(`the arguments of "${toolName}" have ${size} bytes; a person can judge at most ${LONGEST_ARGUMENTS}`);
  }
  if (reason.length > LONGEST_REASON) return wrong('its reason is too long');
  if (!(expiresInMs > 0) || expiresInMs > LONGEST_WAIT_MS) return wrong('its expiresInMs is not between 0 and 30 days');
  const problem = findSubjectProblem(asked);
  if (problem !== undefined) return wrong(problem);
  return {
    id,
    agent: at.agentName,
    instanceKey: at.instanceKey,
    eventId: during.id,
    traceId: during.traceId,
    ...defined({ root: rootIn(asked) }),
    key,
    toolCallId,
    toolName,
    kind,
    ...defined({ askedBy, fingerprint, url }),
    // Safe: masking an object returns an object.
    args: maskJson(frame.args, mask) as JsonObject,
    ...schemaOf(asked),
    digest: questionDigest(frame),
    reason: mask(reason),
    askedAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + expiresInMs).toISOString(),
  };
}

/** Returns the event of a Connection that began the work of this turn, with its `auth`; `undefined` if it began elsewhere. */
export function rootIn({ during, mask }: Pick<AskedQuestion, 'during' | 'mask'>): QuestionRecord['root'] {
  const root = rootOf(during);
  if (root === undefined) return undefined;
  // Safe: masking an object returns an object.
  return { ...root, ...(during.auth && { auth: maskJson(during.auth, mask) as JsonObject }) };
}

function findSubjectProblem({ frame: { kind, schema, url, args }, mask }: AskedQuestion): string | undefined {
  if (kind !== 'form' && kind !== 'page') return url === undefined ? undefined : 'only a page has an address';
  if (Object.keys(args).length > 0) return 'a form and a page have no arguments';
  if (kind === 'page') {
    if (url === undefined || schema !== undefined) return 'a page has an address, and no form';
    return checkPage(url) ?? (mask(url) === url ? undefined : 'its address contains a secret');
  }
  const fields = readForm(schema);
  return 'problem' in fields ? fields.problem : undefined;
}

function schemaOf({ frame: { kind, schema }, mask }: AskedQuestion): Pick<QuestionRecord, 'schema'> {
  if (schema === undefined || (kind !== 'call' && kind !== 'form')) return {};
  // Safe: masking an object returns an object.
  if (kind === 'form') return { schema: maskJson(schema, mask) as JsonObject };
  const isShort = Buffer.byteLength(JSON.stringify(schema)) <= LONGEST_SCHEMA;
  return isShort ? { schema: maskJson(schema, mask) as JsonObject } : {};
}

export function isSameQuestion(record: QuestionRecord, { at, during, frame }: AskedQuestion): boolean {
  return (
    record.agent === at.agentName &&
    record.instanceKey === at.instanceKey &&
    record.eventId === during.id &&
    record.key === frame.key &&
    record.toolCallId === frame.toolCallId &&
    record.toolName === frame.toolName &&
    record.kind === frame.kind &&
    record.digest === questionDigest(frame) &&
    // A tool that has changed since a person was asked is another one.
    record.fingerprint === frame.fingerprint
  );
}

/** Returns the person who approved a question of this kind about exactly these arguments, and their door; `undefined` if nobody did. */
export function approvalOf(
  record: QuestionRecord | undefined,
  kind: QuestionRecord['kind'],
  args: JsonObject,
): Pick<QuestionAnswer, 'by' | 'via'> | undefined {
  if (record?.kind !== kind || record?.answer?.decision !== 'approved') return undefined;
  const { by, via } = record.answer;
  return record.digest === digestJson(args) ? defined({ by, via }) : undefined;
}

function wrong(problem: string): FrameError {
  return { code: 'E_APPROVAL_REQUEST', message: `A question to a person: ${problem}.` };
}

/** Returns the reason why another request of this agent is refused. `own` of `all` requests are of its instance. */
export function findRoomProblem(
  { agentName }: AgentAddress,
  own: number,
  all: number,
  { mostOfAll, mostOfOne }: { readonly mostOfAll: number; readonly mostOfOne: number },
): FrameError | undefined {
  if (own >= mostOfOne) {
    return { code: 'E_APPROVALS_FULL', message: `${own} calls of agent "${agentName}" wait for a person already.` };
  }
  if (all < mostOfAll) return undefined;
  return { code: 'E_APPROVALS_FULL', message: `${all} calls wait for a person already.` };
}
