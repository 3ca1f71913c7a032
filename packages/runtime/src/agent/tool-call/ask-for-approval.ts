/**
 * `ctx.approval.ask`: the only way to ask a person for approval. The answer is recorded as an effect: after a crash the
 * same request is made again until it has an answer, and never after that.
 */
import { type ApprovalOutcome, type ApprovalRequest, GoondanError, type JsonValue } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import { digestJson } from '../../json/digest-json.ts';
import { previewCall } from './preview-call.ts';
import type { RunningToolCall } from './running-tool-call.ts';
import { checkToolCall } from './check-tool-call.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import type { ApprovalQuestion } from '../seams/approver.ts';

const LONGEST_REASON = 1_000;
const DAY_MS = 86_400_000;
const LONGEST_WAIT_MS = 30 * DAY_MS;

export async function askForApproval(
  turn: RunningTurn,
  call: RunningToolCall,
  request: ApprovalRequest,
): Promise<ApprovalOutcome> {
  // These two calls come first, before anything is awaited or thrown, so that the tool's handler is blocked from here
  // on and requests are numbered in order.
  const settle = call.approvals.open();
  const key = turn.effects.nextKey(call.key, 'approval');
  const { reason, expiresInMs } = checkRequest(request);
  // A call that cannot run must not be shown to a person.
  const { input } = await checkToolCall(turn.agent.tools, call);
  const digest = digestJson(input);
  const recorded = recordedAnswer(turn, key, digest);
  if (recorded !== undefined) {
    settle(digest, recorded.decision);
    return recorded;
  }
  const { toolCallId, toolName } = call;
  const question = { key, turnId: turn.turnId, toolCallId, toolName, args: input, reason, expiresInMs };
  const { id, ...outcome } = await wait(turn, call, question);
  turn.effects.record(key, 'approval', { ok: true, value: { digest, ...outcome } });
  // The answer must be durable in the log before the approver may delete the answer.
  await turn.log.flush();
  turn.agent.approver.taken(id);
  settle(digest, outcome.decision);
  return outcome;
}

async function wait(turn: RunningTurn, call: RunningToolCall, question: ApprovalQuestion) {
  const { agent, clock } = turn;
  const signal = AbortSignal.any([turn.signal, call.approvals.signal]);
  turn.effects.intend(question.key, 'approval');
  // The call itself must be on disk first: after a crash, the model must not be called again and make a different call.
  await turn.log.flush();
  agent.bus.tell('approval.asked', () => ({ ...previewCall(turn, call), reason: question.reason }));
  clock.pause();
  try {
    const { key, toolName: tool, args, reason } = question;
    const { id, decision, by, note } = await turn.effects.perform(
      { key, kind: 'approval', asked: () => ({ tool, args, reason }) },
      () => agent.activity.question(() => agent.approver.ask(question, signal)),
    );
    agent.bus.tell('approval.decided', () => ({ ...previewCall(turn, call), ...defined({ decision, by }) }));
    return defined({ id, decision, by, note });
  } finally {
    clock.resume();
  }
}

/** Returns the answer given before a crash, if it was about the same arguments. */
function recordedAnswer({ effects }: RunningTurn, key: string, digest: string): ApprovalOutcome | undefined {
  const recorded = effects.recorded(key);
  if (recorded === undefined) return undefined;
  // Safe: only this file writes these records.
  const { digest: about, ...outcome } = recorded as unknown as ApprovalOutcome & { readonly digest: string };
  return about === digest ? outcome : undefined;
}

function checkRequest(request: unknown): Required<ApprovalRequest> {
  const { reason, expiresInMs = DAY_MS } = (request ?? {}) as Record<string, JsonValue | undefined>;
  if (typeof reason !== 'string' || reason.trim() === '') throw wrong('reason is not a text');
  if (reason.length > LONGEST_REASON) throw wrong(`reason has more than ${LONGEST_REASON} characters`);
  if (typeof expiresInMs !== 'number' || !(expiresInMs > 0) || expiresInMs > LONGEST_WAIT_MS) {
    throw wrong(`expiresInMs must be above 0 and at most ${LONGEST_WAIT_MS}`);
  }
  return { reason, expiresInMs };
}

function wrong(problem: string): GoondanError {
  return new GoondanError('E_APPROVAL_REQUEST', `The request for approval is not valid: ${problem}.`);
}
