/** `ctx.approval.ask`: asks a person for the approval of the tool call of a layer. */
import { type ApprovalOutcome, type ApprovalRequest, GoondanError, type JsonValue } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import { askPerson } from './ask-person.ts';
import { checkToolCall } from './check-tool-call.ts';
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
  // These two calls come first, before anything is awaited or thrown, so that the tool's handler is blocked from here
  // on and requests are numbered in order.
  const settle = call.approvals.open();
  const key = turn.effects.nextKey(call.key, 'approval');
  const { reason, expiresInMs } = checkRequest(request);
  // A call that cannot run must not be shown to a person.
  const { tool, input } = await checkToolCall(turn.agent.tools, call);
  const { activity, approver } = turn.agent;
  const { id, digest, outcome } = await askPerson(turn, call, {
    key,
    kind: 'call',
    askedBy: { extension },
    ...defined({ schema: tool.item.parameters }),
    args: input,
    reason,
    expiresInMs,
    signal: AbortSignal.any([turn.signal, call.approvals.signal]),
    resting: (wait) => activity.question(wait),
  });
  // The answer is durable in the log, so the approver may delete it.
  if (id !== undefined) approver.taken(id);
  settle(digest, outcome.decision);
  return outcome;
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
