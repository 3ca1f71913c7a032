/** `ctx.approval.ask`: asks a person for the approval of the tool call of a layer. */
import {
  type ApprovalOutcome,
  type ApprovalRequest,
  GoondanError,
  type JsonObject,
  type JsonValue,
} from '@goondan/types';
import { copyJsonObject } from '../../json/copy-json.ts';
import { defined } from '../../json/defined.ts';
import { digestJson } from '../../json/digest-json.ts';
import { maskJson } from '../../log/mask-secrets.ts';
import { applyEdit } from '../../questions/apply-edit.ts';
import type { QuestionOutcome } from '../../questions/question-record.ts';
import { toolFingerprint } from '../tool/tool-fingerprint.ts';
import type { RegisteredTool } from '../tool/tool-registry.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import { askPerson } from './ask-person.ts';
import { checkArguments, checkToolCall } from './check-tool-call.ts';
import type { RunningToolCall } from './running-tool-call.ts';

const LONGEST_REASON = 1_000;
/** The time after which a question expires if the request sets no other. */
const DAY_MS = 86_400_000;
const LONGEST_WAIT_MS = 30 * DAY_MS;

export async function askForApproval(
  turn: RunningTurn,
  call: RunningToolCall,
  extension: string,
  request: ApprovalRequest,
): Promise<ApprovalOutcome> {
  // These calls come first, before anything is awaited or thrown, so that the tool's handler is blocked from here
  // on and requests are numbered in order.
  const before = call.approvals.answered();
  const settle = call.approvals.open();
  const key = turn.effects.nextKey(call.key, 'approval');
  const { reason, expiresInMs } = checkRequest(request);
  // A call that cannot run must not be shown to a person.
  const { tool, input } = await checkToolCall(turn.agent.tools, call);
  const { activity, approver } = turn.agent;
  const answer = await askPerson(turn, call, {
    key,
    before,
    kind: 'call',
    askedBy: { extension },
    ...defined({ schema: tool.item.parameters }),
    fingerprint: toolFingerprint(tool, turn.agent.mask),
    args: input,
    reason,
    expiresInMs,
    signal: AbortSignal.any([turn.signal, call.approvals.signal]),
    resting: (wait) => activity.question(wait),
  });
  // The answer is durable in the log, so the approver may delete it.
  if (answer.id !== undefined) approver.taken(answer.id);
  const { decision, by, via, note, args } = answer.outcome;
  if (decision !== 'approved' || args === undefined) {
    settle(answer.digest, decision);
    return defined({ decision, by, via, note });
  }
  const edited = await applyPersonsEdit(tool, input, answer.outcome);
  call.args = edited;
  const shown = maskJson(edited, turn.agent.mask) as JsonObject;
  call.step?.changedBy.set(call.toolCallId, { args: shown, ...defined({ by, via, question: answer.id }) });
  settle(digestJson(edited), decision, answer.before);
  return { decision, ...defined({ by, via, note }), args: copyJsonObject(edited) };
}

/** **Errors** — `E_QUESTION_REPLY` if the edited arguments do not fit the tool. */
async function applyPersonsEdit(tool: RegisteredTool, input: JsonObject, { args = {}, seen = input }: QuestionOutcome) {
  try {
    return await checkArguments(tool, applyEdit(input, seen, args));
  } catch (error) {
    if (!GoondanError.is(error) || error.code !== 'E_TOOL_ARGUMENTS') throw error;
    throw new GoondanError('E_QUESTION_REPLY', `A person edited the arguments. ${error.message}`);
  }
}

/** Checks a request. **Errors** — `E_APPROVAL_REQUEST`. */
export function checkRequest(request: unknown): Required<ApprovalRequest> {
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
