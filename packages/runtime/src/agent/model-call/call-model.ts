/** The only way to call a model: runs the model chain and then the model, and records the result as an effect. */
import { GoondanError, type JsonValue, type ModelReply } from '@goondan/types';
import { defined } from '../../json/defined.ts';
import { hideBytesInParts } from '../../json/hide-bytes.ts';
import { sha256 } from '../../json/sha256.ts';
import { snapshotJson } from '../../json/snapshot-json.ts';
import { NO_USAGE, soundUsage } from '../../ports/token-usage.ts';
import type { ChainSpan } from '../../trace/layer-span.ts';
import type { AskedModel, SentRequest } from '../../trace/model-request.ts';
import { isObjectSchema } from '../output/finish-tool.ts';
import { NotResult } from '../pipeline/onion.ts';
import { readModelReply } from '../pipeline/result-shapes.ts';
import { isRetryable, modelFailureOf, retryAfterMsOf, toTurnError } from '../pipeline/turn-error.ts';
import { maskReply } from '../secrets/mask-model-call.ts';
import { previewArguments } from '../tool-call/preview-call.ts';
import { runChain } from '../pipeline/run-chain.ts';
import type { PaidModel } from '../../usage/spending.ts';
import { addOwnUsage, refuseWhenOver, type RunningTurn } from '../turn-state/running-turn.ts';
import { withDeadline } from '../with-deadline.ts';
import { CallReservations } from './call-reservations.ts';
import { type ModelCall, ModelContext } from './model-context.ts';
import type { ModelRequest } from '../model/model-port.ts';

export async function callModel(turn: RunningTurn, call: ModelCall): Promise<ModelReply> {
  refuseWhenOver(turn);
  const { key, step, extension } = call;
  const { mask } = turn.agent;
  const span = turn.observer?.chain(
    {
      kind: 'model',
      label: call.modelRef,
      id: key,
      effect: key,
      mask,
      spanIds: (step ?? turn).spanIds.inside(key),
      isRepeated: turn.effects.isRecorded(key),
      inspect: () => inspect(call),
      shared: call.messages,
      // The input is shown only for a call by a layer, because a step always sends the whole conversation.
      ...(extension === undefined
        ? {}
        : { input: () => previewArguments(hideBytesInParts(call.messages.at(-1)?.content), mask) }),
    },
    (step ?? turn).span,
  );
  const reservations = new CallReservations(turn, call);
  call.reservations = reservations;
  return runChain<ModelReply>(turn, {
    kind: 'model',
    span,
    contextFor: (asking, next) => new ModelContext(turn, call, asking, next),
    core: () => recordedOrAsked(turn, call, span),
    read: readModelReply,
    answered: (by) => {
      if (step !== undefined && extension === undefined) step.repliedBy = by;
    },
  }).finally(() => reservations.release());
}

async function recordedOrAsked(turn: RunningTurn, call: ModelCall, span: ChainSpan | undefined): Promise<ModelReply> {
  const { key, extension } = call;
  call.tools.check(turn.agent);
  const recorded = turn.effects.recorded(key);
  // Safe: only checked replies are recorded.
  if (recorded !== undefined) return recorded as unknown as ModelReply;
  const request = await requestOf(turn, call);
  let watched: AskedModel | undefined;
  // Only messages of the conversation are immutable.
  const isShown = call.ownMessages === undefined && extension === undefined;
  const asked = () => {
    const { conversation, agent, demand } = turn;
    const places = { idOf: conversation.idsOfShown(), follows: conversation.orderOfShown() };
    const origins = {
      originOf: conversation.originsOfShown(),
      offererOf: (name: string) =>
        agent.tools.offererOf(name) ?? (name === demand?.finish.item.name ? 'runtime' : undefined),
    };
    return (watched = { ...keep(request, isShown), extension, own: call.own, ...places, ...origins });
  };
  const onSent = (told: SentRequest) => {
    if (watched !== undefined) watched.sent = digestBody(told);
  };
  const reply = await turn.effects.perform({ key, kind: 'model', asked }, async () => {
    const replied = await turn.agent.activity.effect(() =>
      countCall(turn, call, span, (onBegun) => askModel(turn, call, { ...request, onSent, onBegun })),
    );
    if (watched !== undefined && extension === undefined) noteCacheLoss(turn, call, watched, replied, span);
    return replied;
  });
  const paid = paidFor(turn, call);
  turn.effects.record(key, 'model', { ok: true, value: reply as unknown as JsonValue }, { paid });
  // A reply that is paid for should not be lost with the process, even if the layers after it take their time.
  turn.log.flushSoon();
  addOwnUsage(turn, reply.usage);
  return reply;
}

function paidFor({ agent }: RunningTurn, { modelRef, extension }: ModelCall): PaidModel {
  const entry = agent.plan.openModel.entries[modelRef];
  const spec = entry === undefined || 'generate' in entry ? undefined : entry;
  // A model in code has no provider, and the name of its resource.
  const model = spec?.model ?? modelRef.replace(/^Model\//, '');
  return { provider: spec?.provider ?? 'code', model, ...(extension === undefined ? {} : { extension }) };
}

/**
 * Makes a call when its reservations have begun, and settles them. `onBegun` notes that the model may have begun to answer.
 * The wait is outside of the time limits of the call.
 */
async function countCall(
  turn: RunningTurn,
  call: ModelCall,
  span: ChainSpan | undefined,
  make: (onBegun: () => void) => Promise<ModelReply>,
): Promise<ModelReply> {
  const { reservations } = call;
  const wait = watchWait(turn, call, span);
  const reserved = await reservations?.begin(wait.began).finally(wait.ended);
  if (reserved !== undefined) span?.reserved?.(reserved);
  let hasBegun = false;
  try {
    const reply = await make(() => (hasBegun = true));
    const { inputTokens, outputTokens } = reply.usage;
    reservations?.settle(inputTokens + outputTokens > 0 ? reply.usage : undefined);
    return reply;
  } catch (error) {
    reservations?.settle(!hasBegun && isRefusal(error) ? NO_USAGE : undefined);
    throw error;
  }
}

/** Tells watchers and the trace that a call waits for a limit of its model, and that its wait is over. */
function watchWait({ agent, turnId, spanIds }: RunningTurn, call: ModelCall, span: ChainSpan | undefined) {
  let wait: { readonly limit: string; readonly since: number } | undefined;
  const describe = (limit: string) => ({
    modelRef: call.modelRef,
    limit,
    stepId: call.step?.stepId ?? turnId,
    turnId,
    agentName: agent.address.agentName,
    timestamp: agent.clock.now().toISOString(),
    ...(call.step?.spanIds ?? spanIds).inside(call.key).fields,
  });
  return {
    began: (limit: string) => {
      wait = { limit, since: agent.clock.elapsed() };
      span?.waits?.(limit);
      agent.bus.tell('limit.reached', () => describe(limit));
    },
    ended: () => {
      if (wait === undefined) return;
      const { limit, since } = wait;
      agent.bus.tell('limit.waited', () => ({ ...describe(limit), duration: agent.clock.elapsed() - since }));
    },
  };
}

/** The codes of calls that the provider refused, or that were not sent. */
const refusals = ['E_MODEL_FAILED', 'E_MODEL_AUTH', 'E_MODEL_CONTEXT', 'E_MODEL_FILE', 'E_MODEL_KEY'];

/** Returns true if the provider refused the call before it began. Any other failure may have used tokens. */
function isRefusal(error: unknown): boolean {
  return refusals.includes(toTurnError(error).code ?? '') && modelFailureOf(error) !== 'broken-off';
}

interface BuiltRequest extends Pick<ModelRequest, 'messages' | 'tools' | 'params' | 'outputSchema' | 'stableCount'> {
  readonly modelRef: string;
}

/**
 * Builds the request that the model receives. If the turn demands a schema, the model gets the schema, or the tool with
 * which it gives the answer. This is decided after the last layer, because layers choose the model and the tools.
 */
async function requestOf(turn: RunningTurn, call: ModelCall): Promise<BuiltRequest> {
  const { agent, demand } = turn;
  const { messages, ownMessages, modelRef, extension, reservations } = call;
  const tools = agent.cleanMessages.ofTools(call.tools.items);
  const clean = agent.cleanMessages.of(ownMessages ?? messages);
  // Messages of the conversation have no bytes any more. Those of a layer may have.
  const isOfLayer = ownMessages !== undefined || extension !== undefined;
  const request = {
    modelRef,
    params: reservations?.limitAnswer(call.params) ?? call.params,
    stableCount: extension === undefined ? countStable(turn, call) : undefined,
    tools,
    messages: isOfLayer ? clean.map((message) => agent.files.takeModelMessage(message)) : clean,
  };
  if (demand === undefined || extension !== undefined) return request;
  if (await takesSchema(turn, call, tools)) return { ...request, outputSchema: demand.schema };
  return { ...request, tools: [...tools, demand.finish.item] };
}

/** A replay opens no model, so its recording decides. A model that cannot be opened fails when it is called. */
async function takesSchema(
  { agent, demand, replay }: RunningTurn,
  { key, modelRef }: ModelCall,
  tools: BuiltRequest['tools'],
): Promise<boolean> {
  if (demand === undefined || !isObjectSchema(demand.schema)) return false;
  if (replay !== undefined) return replay.tookSchema(key);
  const model = await agent.plan.openModel(modelRef).catch(() => undefined);
  return (await model?.takesSchema?.(demand.schema, tools)) === true;
}

/** Counts the leading messages that stay in the conversation, and that no layer of this call has changed. */
function countStable({ conversation }: RunningTurn, { messages, ownMessages }: ModelCall): number {
  const stable = conversation.countStable(messages);
  if (ownMessages === undefined) return stable;
  let count = 0;
  while (count < stable && messages[count] === ownMessages[count]) count += 1;
  return count;
}

/** Copies the request, because the conversation may change its array after the call. */
function keep({ modelRef, params, tools, messages, stableCount, outputSchema }: BuiltRequest, isShown: boolean) {
  return {
    modelRef,
    stableCount,
    params: snapshotJson(params),
    tools: snapshotJson(tools),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    messages: isShown ? messages.slice() : messages.map((message) => snapshotJson(message)),
  };
}

/** Adds the reason to a watched request whose provider could not read from its cache what the last request had left. */
function noteCacheLoss(
  { agent, conversation: { authors } }: RunningTurn,
  { step }: ModelCall,
  watched: AskedModel,
  { usage }: ModelReply,
  span: ChainSpan | undefined,
): void {
  const { modelRef, params, tools, messages, stableCount, sent, idOf = () => undefined } = watched;
  const lost = agent.cacheWatch.compare(
    {
      ...defined({ sent }),
      modelRef,
      params,
      tools,
      messages,
      stableCount,
      idOf,
      changes: span?.changes?.() ?? [],
      authors,
      eventCount: authors.count,
      plan: step?.plan,
      ownerOf: (tool) => agent.tools.get(tool)?.extension,
    },
    usage,
  );
  if (lost !== undefined) watched.cacheLost = lost;
}

/** Replaces the body of a request by its digest, because a long body would stay in memory until the turn ends. */
function digestBody({ body, ...sent }: SentRequest): NonNullable<AskedModel['sent']> {
  return { ...sent, ...(body === undefined ? {} : { bodyDigest: sha256(body) }) };
}

async function askModel(
  turn: RunningTurn,
  { step, extension }: ModelCall,
  { modelRef, ...request }: BuiltRequest & Pick<ModelRequest, 'onSent'> & { readonly onBegun: () => void },
): Promise<ModelReply> {
  const { agent, turnId } = turn;
  const model = await agent.plan.openModel(modelRef);
  const timeoutMs = agent.plan.policy.modelTimeoutMs;
  const whenLate = () =>
    new GoondanError('E_MODEL_TIMEOUT', `${modelRef} did not finish within ${timeoutMs} ms.`, {
      retryable: true,
      failure: 'timeout',
    });
  const reply: unknown = await withDeadline(turn, timeoutMs, whenLate, (run) =>
    model.generate({
      ...request,
      readFile: (digest) => agent.files.read(digest),
      get signal() {
        return run.signal;
      },
      turnId,
      onDelta: (delta) => {
        request.onBegun();
        // A call by a layer is not streamed. A model may keep writing after its deadline; those deltas are dropped.
        if (step !== undefined && extension === undefined && !run.isOver) turn.deltas.streaming(step, delta);
      },
    }),
  ).catch((error: unknown) => {
    throw withCode(error, modelRef);
  });
  const given = readReply(reply, modelRef);
  // A model in code may count anything.
  return maskReply(agent.files.takeReply({ ...given, usage: soundUsage(given.usage) }), agent.mask);
}

function readReply(reply: unknown, modelRef: string): ModelReply {
  const refuse = (problem: string): never => {
    throw new GoondanError('E_MODEL_REPLY', `${modelRef} gave no reply: ${problem}.`);
  };
  try {
    return readModelReply(reply, { dropped: refuse });
  } catch (error) {
    const reason = NotResult.reasonOf(error);
    if (reason === undefined) throw error;
    return refuse(reason);
  }
}

/** Adds a code to a model's error if it has none. Keeps `retryable` and `failure`. */
function withCode(error: unknown, modelRef: string): unknown {
  const { code, message } = toTurnError(error);
  if (code !== undefined) return error;
  return new GoondanError('E_MODEL_FAILED', `${modelRef}: ${message}`, {
    cause: error,
    retryable: isRetryable(error),
    ...defined({ retryAfterMs: retryAfterMsOf(error), failure: modelFailureOf(error) }),
  });
}

function inspect({ messages, ownMessages, tools, params, modelRef, modelReason }: ModelCall) {
  return { modelRef, ...defined({ modelReason }), params, tools: tools.items, messages: ownMessages ?? messages };
}
