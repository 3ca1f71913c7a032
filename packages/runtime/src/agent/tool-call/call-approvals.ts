/**
 * The decisions about one tool call, each bound to exact arguments. The decisions are checked last, just before the
 * handler runs. Whatever layers change in between, the handler runs with the approved arguments or not at all.
 */
import { type ApprovalOutcome, type ErrorCode, GoondanError, type JsonObject } from '@goondan/types';
import { digestJson } from '../../json/digest-json.ts';

interface Binding {
  /** True for the answer of a person, which a later edit of a person replaces. */
  readonly isPersons: boolean;
  digest?: string;
  /** Absent until the answer arrives, and stays absent if the request could not be made. */
  decision?: ApprovalOutcome['decision'];
}

export class CallApprovals {
  readonly #bindings: Binding[] = [];
  #over: AbortController | undefined;
  #isClosed = false;

  constructor(private readonly toolName: string) {}

  /** Aborts when the call ends, which withdraws a request that is still open. */
  get signal(): AbortSignal {
    this.#over ??= new AbortController();
    if (this.#isClosed) this.close();
    return this.#over.signal;
  }

  /** Records that a layer allowed these arguments. */
  bind(args: JsonObject): void {
    this.#add(false)(digestJson(args), 'approved');
  }

  /**
   * Blocks the handler until the returned function is called with an approval of the handler's arguments. `before`: the
   * numbers of the answers that an edit of the arguments replaces.
   */
  open(): (digest: string, decision: ApprovalOutcome['decision'], before?: readonly number[]) => void {
    return this.#add(true);
  }

  /** Returns the numbers of the approvals that people have given so far. */
  answered(): readonly number[] {
    return this.#bindings.flatMap(({ isPersons, decision }, number) =>
      isPersons && decision === 'approved' ? [number] : [],
    );
  }

  /** Throws the reason if the handler must not run with this input. */
  check(input: JsonObject): void {
    if (this.#bindings.length === 0) return;
    const refused = this.#bindings.find(({ decision }) => decision !== 'approved');
    if (refused !== undefined) throw this.#refusal(refused);
    const digest = digestJson(input);
    if (this.#bindings.every((binding) => binding.digest === digest)) return;
    throw this.#error('E_APPROVAL_CHANGED', 'got other arguments after it was approved, so it was not run');
  }

  #add(isPersons: boolean) {
    const binding: Binding = { isPersons };
    this.#bindings.push(binding);
    return (digest: string, decision: ApprovalOutcome['decision'], before: readonly number[] = []) => {
      for (const number of before) {
        const earlier = this.#bindings[number];
        if (earlier?.isPersons === true && earlier.decision === 'approved') earlier.digest = digest;
      }
      Object.assign(binding, { digest, decision });
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#over?.abort(this.#error('E_APPROVAL_DENIED', 'was over before anybody answered'));
  }

  #refusal({ decision }: Pick<Binding, 'decision'>): GoondanError {
    if (decision === 'expired') return this.#error('E_APPROVAL_EXPIRED', 'was not approved in time');
    return this.#error('E_APPROVAL_DENIED', decision === 'denied' ? 'was denied' : 'has not been approved');
  }

  #error(code: ErrorCode, problem: string): GoondanError {
    return new GoondanError(code, `This call of "${this.toolName}" ${problem}.`);
  }
}
