/**
 * What was decided about one tool call, and for which arguments. The handler is asked about last: whatever layers do in
 * between, it runs with what was decided on or not at all.
 */
import { type ApprovalOutcome, type ErrorCode, GoondanError, type JsonObject } from '@goondan/types';
import { digestJson } from '../../json/digest-json.ts';

type Decision = ApprovalOutcome['decision'];

export class CallApprovals {
  readonly #toolName: string;
  /** Undecided while nobody has answered, and for good when it could not be asked. */
  readonly #bindings: { readonly digest?: string; readonly decision?: Decision }[] = [];
  readonly #over = new AbortController();

  constructor(toolName: string) {
    this.#toolName = toolName;
  }

  /** Aborted when the call is over: a question that nobody waits for is withdrawn. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** A layer judged these arguments and is content. */
  bind(args: JsonObject): void {
    this.open()(digestJson(args), 'approved');
  }

  /** From now on the handler does not run, unless what is returned is told that these arguments are approved. */
  open(): (digest: string, decision: Decision) => void {
    const binding = {};
    this.#bindings.push(binding);
    return (digest, decision) => void Object.assign(binding, { digest, decision });
  }

  /** Throws why the handler must not get this. */
  check(input: JsonObject): void {
    if (this.#bindings.length === 0) return;
    const refused = this.#bindings.find(({ decision }) => decision !== 'approved');
    if (refused !== undefined) throw this.#refusal(refused.decision);
    const digest = digestJson(input);
    if (this.#bindings.every((binding) => binding.digest === digest)) return;
    throw this.#error('E_APPROVAL_CHANGED', 'got other arguments after it was approved, so it was not run');
  }

  close(): void {
    if (this.#bindings.length === 0) return;
    this.#over.abort(this.#error('E_APPROVAL_DENIED', 'was over before anybody answered'));
  }

  #refusal(decision: Decision | undefined): GoondanError {
    if (decision === 'expired') return this.#error('E_APPROVAL_EXPIRED', 'was not approved in time');
    return this.#error('E_APPROVAL_DENIED', decision === 'denied' ? 'was denied' : 'has not been approved');
  }

  #error(code: ErrorCode, problem: string): GoondanError {
    return new GoondanError(code, `This call of "${this.#toolName}" ${problem}.`);
  }
}
