/**
 * `ctx.model.generate`: a layer's own model call. It runs through the same code as a step's call, but never streams to
 * the user.
 */
import { type GenerateRequest, GoondanError, type ModelParams, type ModelReply } from '@goondan/types';
import { findUnknownField, knownFields } from '../../config/find-unknown-field.ts';
import { isPlainObject } from '../../json/copy-json.ts';
import { aboutThrown } from '../../log/about-thrown.ts';
import { problemWithModelMessage } from '../conversation/model-message-problem.ts';
import { ToolCatalog } from '../tool/tool-catalog.ts';
import { isFallback, MOST_FALLBACKS, toPlacedError, toTurnError } from '../pipeline/turn-error.ts';
import { type LayerAsk, refuseWhenOver, type RunningTurn } from '../turn-state/running-turn.ts';
import { callModel } from './call-model.ts';

export async function generateForLayer(ask: LayerAsk, request: GenerateRequest): Promise<ModelReply> {
  const { turn, step, scope, layer } = ask;
  const { extension } = layer.layer;
  const problem = problemWithRequest(request);
  if (problem !== undefined) throw new GoondanError('E_MODEL_REQUEST', `Extension "${extension}": ${problem}.`);
  const key = turn.effects.nextKey(scope, 'model');
  const own = [
    ...(request.modelRef === undefined ? [] : ['modelRef']),
    ...Object.keys(request.params ?? {}).map((name) => `params.${name}`),
  ];
  return withFallbacks(turn, key, (attempt) =>
    callModel(turn, {
      key: attempt,
      step,
      messages: request.messages,
      tools: new ToolCatalog(request.tools ?? [], layer.layer),
      params: { ...turn.agent.plan.params, ...request.params },
      modelRef: request.modelRef ?? turn.agent.plan.modelRef,
      stepIndex: step?.stepIndex ?? turn.stepCount,
      extension,
      own,
    }),
  );
}

/**
 * Calls the model again, as the runtime retries a step, when a model layer says that the next attempt uses another
 * model. Each attempt has a key of its own. A resumed turn goes straight to the attempt that is recorded.
 */
async function withFallbacks(
  turn: RunningTurn,
  key: string,
  call: (key: string) => Promise<ModelReply>,
): Promise<ModelReply> {
  const keyOf = (attempt: number) => (attempt === 0 ? key : `${key}.${attempt}`);
  const attempts = Array.from({ length: MOST_FALLBACKS + 1 }, (_, attempt) => attempt);
  const first = attempts.find((attempt) => turn.effects.isRecorded(keyOf(attempt))) ?? 0;
  for (let attempt = first; ; attempt++) {
    try {
      return await call(keyOf(attempt));
    } catch (error) {
      if (!isFallback(error)) throw error;
      refuseWhenOver(turn);
      if (attempt === MOST_FALLBACKS) throw tooManyFallbacks(error);
      warnOfFallback(turn, error);
    }
  }
}

/** Makes a final error, because a step around the call would retry a fallback 16 times, with 16 fallbacks each. */
function tooManyFallbacks(error: unknown): GoondanError {
  const { message } = toTurnError(error);
  return new GoondanError('E_MODEL_FAILED', `${MOST_FALLBACKS} fallbacks in a row did not help: ${message}`, {
    cause: error,
  });
}

function warnOfFallback({ agent }: RunningTurn, error: unknown): void {
  const { message, extension, code } = toPlacedError(error, 'E_EXT_MIDDLEWARE', agent);
  agent.log('warn', `A model call failed and is made again: ${message}`, {
    event: 'model.retried',
    ...(extension !== undefined && { extension, ...aboutThrown(agent.locate(error), { code: code ?? null }) }),
  });
}

function problemWithRequest(request: GenerateRequest): string | undefined {
  if (!Array.isArray(request?.messages)) return 'generate needs an array of messages';
  const { params = {} } = request;
  if (!isPlainObject(params)) return '`params` of generate is not an object';
  return (
    findUnknownField(request, requestFields) ??
    findUnknownField(params, paramFields) ??
    problemWithMessages(request.messages)
  );
}

function problemWithMessages(messages: readonly unknown[]): string | undefined {
  for (const [index, message] of messages.entries()) {
    const what = `messages[${index}]`;
    if (isPlainObject(message) && message.role === undefined && isPlainObject(message.data)) {
      return `${what} is a message of the conversation; pass its \`data\`, which is \`{ role, content }\``;
    }
    const problem = problemWithModelMessage(message, what);
    if (problem !== undefined) return problem.startsWith(what) ? problem : `${what}: ${problem}`;
  }
  return undefined;
}

const requestFields = knownFields<GenerateRequest>(
  'the request of generate',
  { modelRef: true, messages: true, tools: true, params: true },
  { model: 'modelRef', prompt: 'messages', system: 'messages' },
);
const paramFields = knownFields<ModelParams>(
  '`params` of generate',
  {
    temperature: true,
    maxTokens: true,
    topP: true,
    topK: true,
    stopSequences: true,
    seed: true,
    providerOptions: true,
  },
  { maxOutputTokens: 'maxTokens', max_tokens: 'maxTokens', stop: 'stopSequences' },
);
