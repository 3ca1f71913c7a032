/**
 * Shows the model calls of a recorded turn as the provider got them: the request part by part, with the author of each
 * part, the body, and the reply. A body is exact only if its digest equals the one that was taken when it was sent.
 */
import { GoondanError, type JsonValue } from '@goondan/types';
import { digestRequest } from './trace/model-request.ts';
import { sha256 } from './json/sha256.ts';
import { systemClock } from './ports/clock.ts';
import { shortTurnId } from './ports/turn-ids.ts';
import type { BlobReader } from './store/blobs.ts';
import type { TraceReader } from './store/readers.ts';
import type { TurnSummary } from './trace/turn-trace.ts';
import type { TurnRequests, UnsentCall } from './workspace/traces/read-requests.ts';
import { digestAll } from './workspace/traces/rebuild-requests.ts';
import { shortDigest } from './workspace/traces/referred-messages.ts';
import type { PromptProblem, RebuiltCall } from './workspace/traces/rebuilt-call.ts';

/** The prompts of a turn: its model calls in the order in which they ended. */
export interface TurnPrompts {
  readonly turn: TurnSummary;
  readonly calls: readonly CallPrompt[];
  /** Model calls without a recorded request. */
  readonly unsent: readonly UnsentCall[];
}

export interface CallPrompt extends RebuiltCall {
  /** True if the body has the digest of the body that was sent. */
  readonly isExact: boolean;
  /**
   * The body of the HTTP request; for a model without a network, the runtime's own request. Absent when a part of the
   * request is missing.
   */
  readonly body?: JsonValue;
}

export interface PromptsQuestion {
  /** The turn, as for `TraceReader.read`; the latest turn when absent. */
  readonly id?: string | undefined;
  /** Only the calls of the step with this index. */
  readonly step?: number | undefined;
  /** Only the call with this key. */
  readonly effect?: string | undefined;
}

/**
 * Reads the prompts of a turn.
 *
 * **Errors** — `E_TRACE_UNKNOWN`, `E_TRACE_AMBIGUOUS`, `E_STORE_READ`; `E_PROMPT_STEP` when the turn has no such step;
 * `E_PROMPT_UNRECORDED` when no request of these calls is recorded.
 */
export async function readPrompts(
  { traces, blobs }: { readonly traces: Pick<TraceReader, 'readRequests'>; readonly blobs: Pick<BlobReader, 'get'> },
  { id, step, effect }: PromptsQuestion = {},
): Promise<TurnPrompts> {
  const read = await traces.readRequests(id);
  if (step !== undefined && !read.steps.includes(step)) throw noSuchStep(read, step);
  const isWanted = (call: { readonly step?: number; readonly effect: string }) =>
    (step === undefined || call.step === step) && (effect === undefined || call.effect === effect);
  const [calls, unsent] = [read.calls.filter(isWanted), read.unsent.filter(isWanted)];
  if (calls.length === 0) refuseUnrecorded(read.turn, unsent);
  const prompts: CallPrompt[] = [];
  for (const call of calls) prompts.push(await withBody(call, blobs));
  return { turn: read.turn, calls: prompts, unsent };
}

function noSuchStep({ turn, steps }: TurnRequests, step: number): GoondanError {
  const [first, last] = [steps[0], steps.at(-1)];
  const id = shortTurnId(turn.turnId);
  const known =
    first === undefined ? 'no step' : first === last ? `only step ${first}` : `the steps ${first} to ${last}`;
  const suggestion =
    first === undefined
      ? `\`gdn trace ${id}\` shows how the turn ended.`
      : `Write \`--prompt ${last}\` for its last step, or \`--prompt\` for all of them. \`gdn trace ${id}\` shows what each step did.`;
  return new GoondanError('E_PROMPT_STEP', `Turn ${id} has no step ${step}. It has ${known}.`, { suggestion });
}

/** Throws if a request should be there, and none is. A call that a layer answered has no request. */
function refuseUnrecorded({ turnId }: TurnSummary, unsent: readonly UnsentCall[]): void {
  const refused = unsent.find(({ why }) => why === 'unreported');
  if (refused === undefined) return;
  const called = `${refused.modelRef}, a model of a program that does not report its requests`;
  const message = `Turn ${shortTurnId(turnId)} called ${called}.`;
  const suggestion = 'Call `request.onSent` in `generate` of the model.';
  throw new GoondanError('E_PROMPT_UNRECORDED', message, { suggestion });
}

async function withBody(call: RebuiltCall, blobs: Pick<BlobReader, 'get'>): Promise<CallPrompt> {
  const isComplete =
    call.request.messages.every(({ message }) => message !== undefined) &&
    call.request.tools.every(({ tool }) => tool !== undefined);
  if (!isComplete) return { ...call, isExact: false };
  return call.package === undefined ? withOwnRequest(call) : withSentBody(call, blobs);
}

/** The request of a model without a body, as JSON. */
function withOwnRequest(call: RebuiltCall): CallPrompt {
  const { messages, tools, fields } = call.request;
  const digests = Object.fromEntries(tools.map(({ name, tool = {} }) => [name, shortDigest(tool)]));
  // Safe: params come from a record, which is JSON.
  const params = JSON.parse(JSON.stringify(fields.params)) as JsonValue;
  const { outputSchema } = fields;
  const output = outputSchema === undefined ? {} : { output: shortDigest(outputSchema) };
  const own = { params, tools: digests, ...output, messages: digestAll(messages) };
  // This digest does not cover everything.
  const isExact = call.problems.length === 0 && digestRequest(own) === call.bodyDigest;
  const body = {
    ...fields,
    params,
    tools: tools.flatMap(({ tool }) => tool ?? []),
    messages: messages.flatMap(({ message }) => message ?? []),
  };
  // Safe: all fields come from a record.
  return judge(call, isExact, body as unknown as JsonValue);
}

async function withSentBody(call: RebuiltCall, blobs: Pick<BlobReader, 'get'>): Promise<CallPrompt> {
  const { provider, model = '', settings, request } = call;
  if (settings === undefined) {
    if (call.problems.length > 0) return { ...call, isExact: false };
    const message = 'the model did not report its settings';
    return { ...call, isExact: false, problems: [{ kind: 'other', message }] };
  }
  const messages = request.messages.flatMap(({ message }) => message ?? []);
  const tools = request.tools.flatMap(({ tool }) => tool ?? []);
  const { rebuildBody } = await import('./agent/model/providers/rebuild-body.ts');
  try {
    const recorded = { provider, model, settings, messages, tools, fields: request.fields };
    const { body = '', package: made } = await rebuildBody(recorded, systemClock, (digest) =>
      readStored(blobs, digest),
    );
    const isExact = sha256(body) === call.bodyDigest;
    // Safe: the body of a provider's request is JSON.
    const shown = JSON.parse(body) as JsonValue;
    if (isExact || made === call.package) return judge(call, isExact, shown);
    const message = `${call.package} built the body, and ${made} builds it now`;
    return judge({ ...call, problems: [...call.problems, { kind: 'package', message }] }, false, shown);
  } catch (error) {
    const message = `the body cannot be built: ${error instanceof Error ? error.message : String(error)}`;
    return { ...call, isExact: false, problems: [...call.problems, { kind: 'other', message }] };
  }
}

async function readStored(blobs: Pick<BlobReader, 'get'>, digest: string): Promise<Uint8Array> {
  const bytes = await blobs.get(digest);
  if (bytes === undefined) throw new GoondanError('E_FILE_UNKNOWN', `The file ${digest} is not stored any more.`);
  return bytes;
}

/** Adds the verdict. A request that is not exact always has a reason. */
function judge(call: RebuiltCall, isExact: boolean, body: JsonValue): CallPrompt {
  if (isExact) return { ...call, isExact, body, problems: [] };
  return { ...call, isExact, body, problems: call.problems.length > 0 ? call.problems : [unknownReason(body)] };
}

function unknownReason(body: JsonValue): PromptProblem {
  if (!JSON.stringify(body).includes('***'))
    return { kind: 'other', message: 'its digest differs, and the reason is not known' };
  return { kind: 'masked', message: 'its digest differs, and it has "***", which may be a masked secret' };
}
