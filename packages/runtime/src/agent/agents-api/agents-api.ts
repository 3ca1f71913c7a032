/** `ctx.agents`: the only way to call other agents, from layers and from tools. */
import {
  type AgentEvent,
  type AgentInstance,
  type AgentRequest,
  type AgentResponse,
  type AgentsApi,
  type AgentSend,
  GoondanError,
  type JsonObject,
  type JsonValue,
  type OutputDemand,
  type TokenUsage,
  type TurnResult,
  textOf,
} from '@goondan/types';
import { defaultRequestTimeoutMs, type TurnPolicy } from '../../config/turn-policy.ts';
import { findUnknownField, type KnownFields, knownFields } from '../../config/find-unknown-field.ts';
import type { RequestTimeout } from '../../ipc/request-timeout.ts';
import { copyJsonObject, isPlainObject } from '../../json/copy-json.ts';
import { defined } from '../../json/defined.ts';
import { readDemand } from '../../json/read-demand.ts';
import { snapshotJson } from '../../json/snapshot-json.ts';
import { ownCheckOf } from '../../json/standard-schema.ts';
import { type Mask, maskJson } from '../../log/mask-secrets.ts';
import { waitAtMost } from '../../ports/clock.ts';
import type { SpanIds } from '../../trace/span-id.ts';
import { maskParts } from '../secrets/mask-message.ts';
import type { EffectOutcome } from '../../trace/resume-point.ts';
import type { OnUsage } from '../seams/engine.ts';
import { addCalledUsage, type RunningTurn } from '../turn-state/running-turn.ts';
import { withContent } from './content-of-call.ts';

/** The layer or the tool call that calls another agent. */
export interface Asker {
  /** The beginning of the keys under which the asker's effects are recorded. */
  readonly scope: string;
  /** The span that becomes the parent of the called agent's turn. */
  readonly spanIds: SpanIds;
  /**
   * If true, the asker's requests wait as long as the called agent's turn may run, and a timeout of the request or the
   * bundle counts from the start of that turn. Otherwise, it counts from the call.
   */
  readonly isPatient?: boolean;
}

export function agentsApi(turn: RunningTurn, asker: Asker): AgentsApi {
  const { engine } = turn.agent;
  return {
    request: (params) => requestTyped(turn, asker, params),
    send: async (params) => send(turn, asker, withContent(turn, readParams(params, sendFields))),
    catalog: () => engine.catalog().map((card) => ({ ...card })),
    list: () => list(turn, asker),
  };
}

/** The parameters of a call with a plain JSON Schema. */
type PlainRequest = Omit<AgentRequest, 'output'> & { readonly output?: OutputDemand };
/** What a request and a send have in common. A send has no answer, so it demands none. */
type PlainCall = Omit<PlainRequest, 'timeoutMs'>;

/** Makes a request. If its schema is one of a schema library, the answer also passes the check of that library. */
async function requestTyped<Output>(
  turn: RunningTurn,
  asker: Asker,
  params: AgentRequest<Output>,
): Promise<AgentResponse<Output>> {
  const answered = await request(turn, asker, withContent(turn, readParams(params, requestFields)));
  const checkOwn = params.output && ownCheckOf(params.output.schema);
  const checked = checkOwn === undefined || answered.output === undefined ? undefined : await checkOwn(answered.output);
  if (checked !== undefined && 'problems' in checked) {
    const said = `The answer of agent "${params.target}" does not fit the demanded schema: ${checked.problems.join('; ')}.`;
    throw new GoondanError('E_OUTPUT_SCHEMA', said);
  }
  // Safe: the runtime or the schema library has checked the answer against the schema of this type.
  return { ...answered, ...(checked && { output: checked.value as JsonValue }) } as AgentResponse<Output>;
}

async function request(turn: RunningTurn, asker: Asker, params: PlainRequest): Promise<AgentResponse> {
  const { agent, signal } = turn;
  const key = turn.effects.nextKey(asker.scope, 'agent');
  const recorded = turn.effects.recorded(key);
  if (recorded !== undefined) return toResponse(params.target, recorded);
  const timeout = timeoutOf(params, asker, agent.plan.policy);
  turn.effects.intend(key, 'agent');
  let called: TokenUsage | undefined;
  const record = (outcome: EffectOutcome) => {
    turn.effects.record(key, 'agent', outcome, defined({ called }));
    if (called !== undefined) addCalledUsage(turn, called);
  };
  const onUsage: OnUsage = (usage) => {
    if (!(usage instanceof Promise)) called = usage.totalTokens > 0 ? usage : undefined;
    else if (signal.aborted) turn.lateUsages.push(recordLate(turn, key, usage));
    else turn.lateUsages.push(waitAtMost(agent.clock, LATE_USAGE_MS, recordLate(turn, `${key}/late`, usage)));
  };
  try {
    const event = eventOf(turn, asker, key, params);
    const response = await turn.effects.perform(effectOf(turn, key, 'request', params), async () => {
      await agent.files.settle();
      const result = await agent.engine.request(addressOf(turn, params), event, timeout, signal, onUsage);
      return responseOf(params.target, result);
    });
    record({ ok: true, value: response });
    return toResponse(params.target, response);
  } catch (error) {
    if (GoondanError.is(error) && !signal.aborted) {
      record({ ok: false, error: { code: error.code, message: error.message } });
    }
    throw error;
  }
}

/**
 * The time that the end of a turn waits, after the timeout of its last request, for the tokens of the called agent. It
 * is short, because nobody waits for the answer any more.
 */
const LATE_USAGE_MS = 50;

/**
 * Counts the tokens of a request that has ended before the called turn. Tokens that arrive after the end of the caller's
 * turn are in the called turn only. Never rejects.
 */
async function recordLate(turn: RunningTurn, key: string, late: Promise<TokenUsage | undefined>): Promise<void> {
  const called = await late;
  if (called === undefined || called.totalTokens === 0 || turn.isCounted) return;
  const error = { code: 'E_CANCELLED', message: 'The request ended before the answer came.' };
  turn.effects.record(key, 'agent', { ok: false, error }, { called });
  addCalledUsage(turn, called);
}

/** Returns the timeout of the request, or else of the bundle, or else the asker's default. */
function timeoutOf({ timeoutMs }: PlainRequest, asker: Asker, policy: TurnPolicy): RequestTimeout | undefined {
  const { requestTimeoutMs, turnTimeoutMs } = policy;
  // A request never waits longer than the caller's turn. This limit also keeps the timeout within the range of a timer.
  const atMost = (ms: number) => Math.min(ms, turnTimeoutMs);
  const from = asker.isPatient === true ? 'turn' : 'call';
  if (timeoutMs !== undefined) return { ms: atMost(timeoutMs), field: 'timeoutMs', from };
  if (requestTimeoutMs !== undefined) return { ms: atMost(requestTimeoutMs), field: 'requestTimeoutMs', from };
  return from === 'turn' ? undefined : { ms: atMost(defaultRequestTimeoutMs), field: 'requestTimeoutMs', from };
}

/**
 * Converts a recorded answer to a response. An answer is recorded as a text, or as an object if the answer was
 * truncated or has an output.
 */
function toResponse(target: string, answered: JsonValue): AgentResponse {
  if (typeof answered === 'string') return { target, response: answered };
  const { response, truncated, output } = isPlainObject(answered) ? answered : {};
  if (typeof response === 'string') {
    return { target, response, ...(truncated === true ? { truncated } : {}), ...defined({ output }) };
  }
  return { target, response: JSON.stringify(answered) };
}

async function send(turn: RunningTurn, asker: Asker, params: PlainCall): Promise<{ accepted: boolean }> {
  const key = turn.effects.nextKey(asker.scope, 'agent');
  const recorded = turn.effects.recorded(key);
  if (recorded !== undefined) return { accepted: recorded === true };
  const event = eventOf(turn, asker, key, params);
  const accepted = await turn.effects.perform(effectOf(turn, key, 'send', params), async () => {
    await turn.agent.files.settle();
    const delivered = await turn.agent.engine.deliver(addressOf(turn, params), event);
    return delivered.accepted;
  });
  turn.effects.record(key, 'agent', { ok: true, value: accepted });
  return { accepted };
}

/** Lists the instances. The list is not recorded, so a resumed turn reads a new list. */
function list(turn: RunningTurn, asker: Asker): Promise<readonly AgentInstance[]> {
  const key = turn.effects.nextKey(`${asker.scope}/list`, 'agent');
  return turn.effects.perform({ key, kind: 'agent', asked: () => ({ call: 'list' }) }, () => turn.agent.engine.list());
}

function effectOf(turn: RunningTurn, key: string, call: 'request' | 'send', params: PlainCall) {
  const { input, content, metadata, output } = params;
  const to = addressOf(turn, params);
  const told = { input, content, metadata: metadata && snapshotJson(metadata), output };
  const asked = () => ({ call, ...to, ...defined(told) });
  return { key, kind: 'agent', asked } as const;
}

function addressOf({ agent }: RunningTurn, params: PlainCall) {
  return { agentName: params.target, instanceKey: params.instanceKey ?? agent.address.instanceKey };
}

/**
 * Makes the agent event of a call to another agent. The event's id is built from the turn and the effect, so that a
 * call repeated after a crash has the same event id.
 */
function eventOf({ agent, event, turnId }: RunningTurn, asker: Asker, key: string, params: PlainCall): AgentEvent {
  return {
    id: `${turnId}:${key}`,
    type: 'agent.message',
    instanceKey: params.instanceKey ?? agent.address.instanceKey,
    source: { kind: 'agent', name: agent.address.agentName },
    traceId: event.traceId,
    parentSpanId: asker.spanIds.spanId,
    ...(event.isSampled === undefined ? {} : { isSampled: event.isSampled }),
    createdAt: agent.clock.now(),
    ...(params.input === undefined ? {} : { input: agent.mask(params.input) }),
    ...(params.content === undefined ? {} : { content: maskParts(params.content, agent.mask) }),
    ...(params.metadata === undefined ? {} : { metadata: metadataOf(params.metadata, agent.mask) }),
    ...(params.output === undefined ? {} : { output: outputOf(params.output, agent.mask) }),
    ...(event.auth === undefined ? {} : { auth: event.auth }),
  };
}

function metadataOf(metadata: Record<string, unknown>, mask: Mask): JsonObject {
  // Safe: masking an object returns an object.
  return maskJson(copyJsonObject(metadata, { omitUndefined: true }), mask) as JsonObject;
}

function outputOf({ schema, ...others }: OutputDemand, mask: Mask): OutputDemand {
  // Safe: masking an object returns an object.
  return { ...others, schema: maskJson(schema, mask) as JsonObject };
}

function responseOf(target: string, result: TurnResult): JsonValue {
  if (result.finishReason !== 'error') {
    const response = textOf(result.responseMessage);
    const { truncated, output } = result;
    if (truncated !== true && output === undefined) return response;
    return { response, ...(truncated === true ? { truncated } : {}), ...defined({ output }) };
  }
  const { code, message } = result.error ?? { message: 'no reason given' };
  throw new GoondanError(
    'E_AGENT_FAILED',
    `Agent "${target}" failed${code === undefined ? '' : ` (${code})`}: ${message}`,
  );
}

/** Checks the parameters of a call, and makes a plain JSON Schema of the one for the answer. */
function readParams(params: AgentRequest<unknown>, known: KnownFields): PlainRequest {
  const { output, ...others } = check(params, known);
  return { ...others, ...(output === undefined ? {} : { output: readDemand(output) }) };
}

function check(params: AgentRequest<unknown>, known: KnownFields): AgentRequest<unknown> {
  const { target, input, instanceKey, metadata } = params ?? {};
  if (typeof target !== 'string' || target === '') throw wrong('target must name an agent');
  for (const [name, text] of Object.entries({ target, instanceKey })) {
    if (typeof text === 'string' && text.length > LONGEST_NAME) {
      throw wrong(`${name} has ${text.length} characters; ${LONGEST_NAME} are allowed`);
    }
  }
  if (input !== undefined && typeof input !== 'string') throw wrong('input must be a text');
  if (instanceKey !== undefined && (typeof instanceKey !== 'string' || instanceKey === '')) {
    throw wrong('instanceKey must be a text');
  }
  const timeoutMs = 'timeoutMs' in params ? params.timeoutMs : undefined;
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0)) {
    throw wrong('timeoutMs must be above 0');
  }
  const refuse = ({ message }: Error) => wrong(`metadata must be JSON, but ${message}`);
  if (metadata !== undefined) copyJsonObject(metadata, { omitUndefined: true, refuse });
  if (known === sendFields && params.output !== undefined) {
    throw wrong('a send has no answer, so it cannot have "output"; use a request');
  }
  const unknown = findUnknownField(params, known);
  if (unknown !== undefined) throw wrong(unknown);
  return params;
}

const askFields = {
  target: true,
  input: true,
  content: true,
  files: true,
  instanceKey: true,
  metadata: true,
} as const;
const otherNames = { agent: 'target', to: 'target', message: 'input', text: 'input' } as const;
const sendFields = knownFields<AgentSend>('a send', askFields, otherNames);
const requestFields = knownFields<AgentRequest>(
  'a request',
  { ...askFields, output: true, timeoutMs: true },
  { ...otherNames, schema: 'output', timeout: 'timeoutMs' },
);

/** The maximum length of `target` and `instanceKey`. The engine checks names up to this length itself. */
const LONGEST_NAME = 4_096;

function wrong(problem: string): GoondanError {
  return new GoondanError('E_AGENT_REQUEST', `A call to another agent: ${problem}.`);
}
