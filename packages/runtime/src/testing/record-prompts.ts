/**
 * Runs random turns of an agent whose layers change everything that a provider gets, against a local server of the
 * provider. For tests: the requests of the server are compared with those that are rebuilt from the records.
 */
import {
  type AgentEvent,
  createSystemMessage,
  createUserMessage,
  GoondanError,
  type JsonObject,
  type JsonSchema,
  type Message,
  type ModelMessage,
  type ModelMiddlewareContext,
  type ModelParams,
  type StepMiddlewareContext,
  type ToolCatalogItem,
  type TurnResult,
} from '@goondan/types';
import type { ConversationStore } from '../agent/conversation/conversation-store.ts';
import type { ExtensionDeclaration } from '../agent/extension/load-extension.ts';
import type { ProviderCase } from '../agent/model/providers/wire/provider-cases.ts';
import type { WireReply } from '../agent/model/providers/wire/wire-dialect.ts';
import { startWireServer, type WireAnswer } from '../agent/model/providers/wire/wire-server.ts';
import { openTurnTraces } from '../agent/process/turn-traces.ts';
import type { AgentPlan } from '../agent/start/agent-plan.ts';
import { type AgentDeps, startAgent } from '../agent/start/start-agent.ts';
import { systemClock } from '../ports/clock.ts';
import type { TraceSink } from '../store/sinks.ts';
import { watchTurn } from '../trace/watch-turn.ts';
import { type Random, seededRandom } from '../workspace/simulation/seeded-random.ts';
import { extension } from './scripted-agent.ts';

export interface PromptsStore {
  readonly store: ConversationStore;
  readonly traceSink: TraceSink;
}

export interface SentTurn {
  readonly turnId: string;
  /** The bodies that the server got, in order, as JSON. */
  readonly bodies: readonly JsonObject[];
}

/** Runs `turns` turns of one conversation, and closes the agent. The same seed gives the same turns. */
export async function recordPrompts(
  provider: ProviderCase,
  seed: number,
  stores: PromptsStore,
  turns: number,
): Promise<readonly SentTurn[]> {
  const random = seededRandom(seed);
  await using server = startWireServer(provider.dialect);
  const plan = randomPlan(provider, `${server.url}/v1`, random);
  const agent = await recordedAgent({ ...plan, instanceKey: `${provider.provider}-${seed}` }, stores);
  const sent: SentTurn[] = [];
  for (let number = 0; number < turns; number++) {
    const before = server.requests.length;
    server.answer(...Array.from({ length: 40 }, (_, index) => randomAnswer(random, index, number)));
    const { turnId } = await agent.say(`Question ${number} of ${seed}: what is the weather?`);
    sent.push({ turnId, bodies: server.requests.slice(before).map(({ body }) => body) });
  }
  await agent.close();
  return sent;
}

export interface RecordedAgent {
  /** Runs a turn. The second turn with the same id continues or repeats the first. */
  say(input: string, eventId?: string): Promise<TurnResult>;
  /** Writes the traces so far. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Starts an agent in this process, whose turns are recorded in the store. */
export async function recordedAgent(
  plan: AgentPlan,
  { store, traceSink }: PromptsStore,
  deps: Pick<AgentDeps, 'fetch'> = {},
): Promise<RecordedAgent> {
  const agent = await startAgent(plan, { store, logSink: () => undefined, ...deps });
  const { address } = agent.parts;
  // A test may leave a turn that never ends, and remove its store. So a problem fails only who waits for the traces.
  const problems: string[] = [];
  const traces = openTurnTraces({
    open: () => traceSink.open(address),
    clock: systemClock,
    extensions: () => [],
    report: (problem) => void problems.push(problem),
  });
  const throwProblem = () => {
    if (problems.length > 0) throw new Error(problems.join('\n'));
  };
  let number = 0;
  return {
    async say(input, id = `event-${address.instanceKey}-${number++}`) {
      const event: AgentEvent = {
        id,
        type: 'test',
        input,
        instanceKey: address.instanceKey,
        source: { kind: 'cli', name: 'test' },
        traceId: `trace-${id}`,
        createdAt: new Date(),
      };
      const { result } = await agent.handle(event, { observer: watchTurn(systemClock, [traces.listen()]) });
      return result;
    },
    async flush() {
      await traces.flush();
      throwProblem();
    },
    async close() {
      await agent.close();
      await traces.close();
      throwProblem();
    },
  };
}

function randomPlan({ provider, model }: ProviderCase, endpoint: string, random: Random): AgentPlan {
  const specOf = () => ({
    provider,
    model,
    apiKey: 'sk-canary-0123456789abcdef',
    endpoint,
    options: {
      stream: random.chance(0.7),
      ...(random.chance(0.3) && { systemMessages: random.pick(['in-place', 'front', 'joined']) }),
      ...(random.chance(0.3) && { providerOptions: { [keyOf(provider)]: { user: 'somebody' } } }),
    },
    params: randomParams(random),
  });
  return {
    agentName: 'a',
    ...(random.chance(0.8) && { systemPrompt: 'Be brief.' }),
    models: { 'Model/main': specOf(), 'Model/other': specOf() },
    modelRef: 'Model/main',
    params: randomParams(random),
    ...(random.chance(0.3) ? { output: { schema: answerSchema, retries: 1 } } : {}),
    policy: { retryBaseMs: 1, maxStepsPerTurn: 5, maxStepRetries: 2 },
    tools: ['weather', 'clock'].map((name) => ({
      name,
      exports: [{ name: 'get', description: `The ${name}.` }],
      handlers: { get: () => ({ found: name }) },
    })),
    extensions: Array.from({ length: 1 + random.below(4) }, (_, index) => meddler(`meddler-${index}`, random)),
  };
}

/** The answers of the server do not fit it, so that the model is asked again. */
const answerSchema: JsonSchema = {
  type: 'object',
  properties: { tempC: { type: 'number' } },
  required: ['tempC'],
  additionalProperties: false,
};

/** The name under which a package looks for its options. */
function keyOf(provider: string): string {
  return provider === 'openai-compatible' ? 'openaiCompatible' : provider;
}

function randomParams(random: Random): ModelParams {
  return {
    ...(random.chance(0.4) && { temperature: random.below(10) / 10 }),
    ...(random.chance(0.3) && { maxTokens: 100 + random.below(100) }),
    ...(random.chance(0.2) && { stopSequences: ['stop', 'end'] }),
    ...(random.chance(0.2) && { topP: 0.5 }),
  };
}

function randomAnswer(random: Random, index: number, turn: number): WireAnswer {
  if (random.chance(0.12)) return { status: 503, body: '{}', headers: { 'retry-after': '0' } };
  const usage = { input: 10, output: 5, cached: 0 };
  const calls = Array.from({ length: 1 + random.below(2) }, (_, at) => ({
    id: `call-${turn}-${index}-${at}`,
    name: random.pick(['weather__get', 'clock__get', 'gone__get']),
    args: { city: 'Seoul' },
  }));
  const reasoning = { text: 'Hm.', signature: `sig-${index}` };
  const reply: WireReply = {
    usage,
    ...(random.chance(0.2) && { reasoning }),
    ...(random.chance(0.6) ? { calls } : { text: ['It is ', `nice ${turn}.${index}.`] }),
  };
  return { reply };
}

/** An extension whose layers change something else each time. Their choices come from the seed of the run. */
function meddler(name: string, random: Random): ExtensionDeclaration {
  const times = { model: random.chance(0.8), step: random.chance(0.6), turn: random.chance(0.3) };
  const chance = random.below(6) / 10;
  return extension(name, ({ pipeline, tools }) => {
    if (random.chance(0.3)) tools.register({ name: `${name}__look`, description: 'Looks.' }, () => 'seen');
    if (times.model) {
      pipeline.register('model', (ctx) => {
        if (ctx.extension === undefined || random.chance(0.3)) changeCall(ctx, name, random, chance);
        return ctx.next();
      });
    }
    if (times.turn) {
      pipeline.register('turn', async (ctx) => {
        if (random.chance(chance)) await adviseWith(ctx, random, name);
        if (random.chance(chance)) ctx.emitMessageEvent({ type: 'append', message: noteOf(name, random) });
        return ctx.next();
      });
    }
    if (!times.step) return;
    pipeline.register('step', async (ctx) => {
      if (random.chance(chance)) await adviseWith(ctx, random, name);
      changeStep(ctx, name, random, chance);
      const result = await ctx.next();
      if (random.chance(0.1)) throw new GoondanError('E_MODEL_FAILED', 'Once more.', { retryable: true });
      return result;
    });
  });
}

async function adviseWith(
  ctx: Pick<StepMiddlewareContext, 'model' | 'conversationState'>,
  random: Random,
  name: string,
) {
  const own: ModelMessage[] = [
    { role: 'system', content: `Advise ${name}.` },
    { role: 'user', content: `What now, ${random.below(3)}?` },
  ];
  const said = ctx.conversationState.nextMessages.filter(({ data }) => data.role === 'user').map(({ data }) => data);
  const messages = random.chance(0.5) ? [...own, ...said] : own;
  const request = {
    messages,
    ...(random.chance(0.3) && { params: randomParams(random) }),
    ...(random.chance(0.3) && { modelRef: 'Model/other' }),
    ...(random.chance(0.3) && { tools: [{ name: 'own__tool', description: 'Its own.' }] }),
  };
  // A server that is busy is no reason to fail.
  await ctx.model.generate(request).catch(() => undefined);
}

function changeStep(ctx: StepMiddlewareContext, name: string, random: Random, chance: number): void {
  if (random.chance(chance)) ctx.toolCatalog = changeTools(ctx.toolCatalog, name, random);
  const { nextMessages } = ctx.conversationState;
  const target = nextMessages.length === 0 ? undefined : random.pick(nextMessages).id;
  if (random.chance(chance)) ctx.emitMessageEvent({ type: 'append', message: noteOf(name, random) });
  if (target === undefined || !random.chance(chance)) return;
  switch (random.below(5)) {
    case 0:
    case 1: {
      const message = noteOf(name, random, random.chance(0.5) ? target : undefined);
      return ctx.emitMessageEvent({ type: 'replace', targetId: target, message });
    }
    case 2:
    case 3:
      return ctx.emitMessageEvent({ type: 'remove', targetId: target });
    default:
      return ctx.emitMessageEvent({ type: 'truncate' });
  }
}

function noteOf(name: string, random: Random, id = `${name}-${random.below(1_000_000_000)}`): Message {
  const text = `A note of ${name}: ${random.below(20)}.`;
  return random.chance(0.5) ? createSystemMessage(text, {}, { id }) : createUserMessage(text, {}, { id });
}

function changeCall(ctx: ModelMiddlewareContext, name: string, random: Random, chance: number): void {
  if (random.chance(chance)) ctx.messages.push({ role: 'user', content: `${name} says ${random.below(5)}.` });
  if (random.chance(chance)) ctx.messages = changeMessages(ctx.messages, name, random);
  if (random.chance(chance)) ctx.tools = changeTools(ctx.tools, name, random);
  if (random.chance(chance)) ctx.params = { ...ctx.params, ...randomParams(random) };
  if (random.chance(chance / 3)) ctx.params.temperature = 0.25;
  // A layer in plain JavaScript may take a param away like this.
  if (random.chance(chance / 3)) ctx.params = { ...ctx.params, maxTokens: undefined as unknown as number };
  if (random.chance(chance / 2)) ctx.modelRef = 'Model/other';
}

function changeMessages(messages: readonly ModelMessage[], name: string, random: Random): ModelMessage[] {
  switch (random.below(5)) {
    case 0:
      return [{ role: 'system', content: `${name} first.` }, ...messages];
    case 1:
      return messages.map((each) => (each.role === 'user' ? { ...each, content: `${name} changed it.` } : each));
    case 2:
      // Safe: messages are JSON.
      return JSON.parse(JSON.stringify(messages)) as ModelMessage[];
    case 3:
      return messages.filter(({ role }) => role !== 'system');
    default:
      return [...messages.slice(-4)];
  }
}

function changeTools(tools: readonly ToolCatalogItem[], name: string, random: Random): ToolCatalogItem[] {
  switch (random.below(5)) {
    case 0:
      return tools.map((tool) => ({ ...tool, description: `${tool.description} (${name})` }));
    case 1:
      return tools.filter((_, index) => index !== 0);
    case 2:
      return [
        ...tools,
        { name: `${random.below(9)}`, description: `Added by ${name}.`, parameters: { type: 'object' } },
      ].filter((tool, index, all) => all.findIndex((each) => each.name === tool.name) === index);
    case 3:
      return tools.toReversed();
    default:
      // The same tool with its fields in another order makes another body.
      return tools.map(({ name: called, description, ...rest }) => ({ ...rest, description, name: called }));
  }
}
