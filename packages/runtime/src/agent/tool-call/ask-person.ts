/**
 * The only way to ask a person: for the approval of a tool call, of a changeset and of a budget, for a form, and about a
 * page. The answer is recorded as an effect:
 * after a crash the same question is asked again until it has an answer, and never after that.
 */
import type { JsonObject } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import { inScope } from '../../trace/draw-scope.ts';
import { questionDigest } from '../../questions/question-digest.ts';
import type { QuestionOutcome } from '../../questions/question-record.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import type { Question } from '../seams/approver.ts';
import { previewCall, type PreviewedCall } from './preview-call.ts';
import type { RunningToolCall } from './running-tool-call.ts';

export interface PersonQuestion extends Omit<Question, 'turnId' | 'toolCallId' | 'toolName'> {
  /** The numbers of the approvals that an edit of the arguments replaces. */
  readonly before?: readonly number[];
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal;
  /** Runs a wait during which the process may leave the turn. */
  readonly resting: <Value>(wait: () => Promise<Value>) => Promise<Value>;
}

/** The call that asks. A question about a budget has no span of its own: it is asked in the scope of its layer. */
type AskingCall = PreviewedCall & Partial<Pick<RunningToolCall, 'span'>>;

/** The answer of a person. Pass `id`, if there is one, to `approver.taken` when the answer is no longer needed. */
export interface PersonAnswer {
  readonly id?: string;
  /** The digest of everything that was asked. */
  readonly digest: string;
  readonly outcome: QuestionOutcome;
  /** As in the question, also if the answer was given before a crash. */
  readonly before?: readonly number[];
}

/** Asks the question, or returns its recorded answer. The answer is durable in the turn's log when this returns. */
export async function askPerson(turn: RunningTurn, call: AskingCall, question: PersonQuestion): Promise<PersonAnswer> {
  const { key, before } = question;
  const digest = questionDigest(question);
  const recorded = recordedAnswer(turn, key, digest);
  if (recorded !== undefined) return recorded;
  const answer = await wait(turn, call, question);
  const replaced = answer.args === undefined || before === undefined ? {} : { before: [...before] };
  turn.effects.record(key, 'approval', {
    ok: true,
    value: { digest, ...answer, ...replaced },
  });
  await turn.log.flush();
  return answerOf(digest, { ...answer, ...defined({ before }) });
}

async function wait(turn: RunningTurn, call: AskingCall, { signal, resting, before: _, ...question }: PersonQuestion) {
  const { agent, clock, turnId } = turn;
  const { toolCallId, toolName } = call;
  const { key, reason } = question;
  turn.effects.intend(key, 'approval');
  // The call itself must be on disk first: after a crash, the model must not be called again and make a different call.
  await turn.log.flush();
  agent.bus.tell('approval.asked', () => ({ ...previewCall(turn, call), reason }));
  const perform = () =>
    turn.effects.perform({ key, kind: 'approval', asked: () => subjectOf(toolName, question) }, () =>
      resting(() => agent.approver.ask({ ...question, turnId, toolCallId, toolName }, signal)),
    );
  const scope = call.span?.scope;
  clock.pause();
  try {
    // The question of a server may come in while code of another call runs.
    const answer = await (scope === undefined ? perform() : inScope(scope, perform));
    const { id, decision, by, via, note, args: edited, content, seen, grant } = answer;
    agent.bus.tell('approval.decided', () => ({ ...previewCall(turn, call), ...defined({ decision, by, via }) }));
    return defined({ id, decision, by, via, note, args: edited, content, seen, grant });
  } finally {
    clock.resume();
  }
}

/** Returns the subject of a question for its trace. */
function subjectOf(
  tool: string,
  { args, reason, schema, url, kind }: Omit<PersonQuestion, 'signal' | 'resting' | 'before'>,
): JsonObject {
  if (kind === 'form' || kind === 'page') return defined({ tool, reason, form: schema, url });
  return { tool, args, reason };
}

/** Returns the answer given before a crash, if it was about the same arguments. */
function recordedAnswer({ effects }: RunningTurn, key: string, digest: string): PersonAnswer | undefined {
  const recorded = effects.recorded(key);
  if (recorded === undefined) return undefined;
  // Safe: only this file writes these records.
  const { digest: about, ...answer } = recorded as unknown as RecordedAnswer;
  return about === digest ? answerOf(digest, answer) : undefined;
}

/** The `id` is absent if the approver has none. */
type RecordedAnswer = QuestionOutcome & {
  readonly digest: string;
  readonly id?: string;
  readonly before?: readonly number[];
};

function answerOf(digest: string, { id, before, ...outcome }: Omit<RecordedAnswer, 'digest'>): PersonAnswer {
  return { ...defined({ id, before }), digest, outcome };
}
