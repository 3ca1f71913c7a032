/** Makes the context that a function of v0.10 gets. */
import type { GoondanError, JsonValue } from '@goondan/types';
import { compatError, withRemoved } from './compat-error.ts';
import type { Entry } from './entries.ts';
import type { Hosted } from './host-chain.ts';
import { defineLazy } from './lazy.ts';
import { toOldEvents, toOldMessage } from './message-events.ts';
import type { OldMessageState, OldTurn } from './old-types.ts';
import type { Powers } from './turn-state.ts';

/** The members of a layer context that contexts of v0.10 use. */
export interface LayerFields {
  readonly agentName: string;
  readonly instanceKey: string;
  readonly workdir: string;
  readonly bundleFolder: string;
  metadata: Record<string, JsonValue>;
}

/** The functions of a point run with the context of this layer. */
export interface PointRun extends Hosted {
  readonly layer: LayerFields;
  /** Checks and takes over what a function changed besides the turn. */
  readonly take?: (returned: object, entry: Entry) => void;
}

export interface OpenedContext {
  readonly ctx: object;
  /** Undefined outside of a turn whose messages can be read. */
  readonly messages: GivenMessages | undefined;
  /** The turn when the function was called. */
  readonly turn: OldTurn;
}

/** The messages that a function got. */
export interface GivenMessages {
  readonly state: OldMessageState;
  /** The events that the function got, without those that it appended. */
  readonly events: () => readonly unknown[];
}

/** `fields` are the fields that the function before this one returned. Fields that are lazy stay lazy. */
export function openContext(
  run: PointRun,
  entry: Entry,
  fields: object,
  emit: (event: unknown) => Promise<void>,
): OpenedContext {
  const { member, point } = entry;
  const { agentName, instanceKey, workdir, bundleFolder } = run.layer;
  const { powers } = run.state;
  const messages = powers && openMessages(powers, member.name);
  // Each function has a turn of its own, because the functions of several tool calls may run at the same time.
  const given: OldTurn = { ...run.state.turn, metadata: run.layer.metadata };
  if (messages !== undefined) given.messageState = messages.state;
  const turn = { ...given };
  const ctx = withRemoved('ctx', removed, member.name);
  Object.defineProperties(ctx, Object.getOwnPropertyDescriptors(fields));
  const { events, api } = member;
  const own = {
    turn,
    events,
    logger: api.logger,
    agentName,
    instanceKey,
    workdir,
    bundleFolder,
    emitMessageEvent: emit,
  };
  for (const [key, value] of Object.entries(own)) setField(ctx, key, value);
  defineLazy(ctx, 'instance', () => openInstance(instanceKey, member.name));
  defineLazy(ctx, 'agent', () => openAgent(agentName, member.name));
  if (point === 'turn.post' && messages !== undefined) {
    defineLazy(ctx, 'baseMessages', () => messages.state.baseMessages);
    defineLazy(ctx, 'messageEvents', () => messages.state.events);
  }
  return { ctx, messages, turn: given };
}

/** Makes the messages of the turn as v0.10 shows them. Each list is made when it is first read. */
function openMessages({ conversationState }: Powers, extension: string): GivenMessages {
  const state = {};
  let given: readonly unknown[] | undefined;
  const refuse = () => {
    throw changedMessages(extension);
  };
  defineLazy(state, 'baseMessages', () => Object.freeze(conversationState.baseMessages.flatMap(toOldMessage)), refuse);
  defineLazy(state, 'nextMessages', () => Object.freeze(conversationState.nextMessages.flatMap(toOldMessage)), refuse);
  defineLazy(state, 'events', () => {
    const list = toOldEvents(conversationState.events);
    given = [...list];
    return list;
  });
  // Safe: the three lists were just defined.
  return { state: state as OldMessageState, events: () => given ?? toOldEvents(conversationState.events) };
}

export function changedMessages(extension: string): GoondanError {
  return compatError(
    extension,
    'changed baseMessages or nextMessages of the turn',
    'Append an event to ctx.turn.messageState.events, or change ctx.llmInput at step.llmInput for one model call.',
  );
}

function setField(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The instance, as far as it is known here. */
function openInstance(instanceKey: string, extension: string): object {
  return Object.freeze(Object.assign(withRemoved('ctx.instance', removedFromInstance, extension), { instanceKey }));
}

/** The resource of the agent, as far as it is known here. */
function openAgent(name: string, extension: string): object {
  const metadata = withRemoved('ctx.agent.metadata', removedFromMetadata, extension);
  const known = { kind: 'Agent', metadata: Object.freeze(Object.assign(metadata, { name })) };
  return Object.freeze(Object.assign(withRemoved('ctx.agent', removedFromAgent, extension), known));
}

const USE_CONFIG = 'Put the values that the extension needs into its config.';

const removed = {
  swarm: USE_CONFIG,
  effectiveConfig: `${USE_CONFIG} The tools of the step are in ctx.toolCatalog.`,
};

const USE_KEY = 'Only ctx.instance.instanceKey is known. Use api.setState() for values that must be kept.';

const removedFromInstance = {
  id: USE_KEY,
  key: USE_KEY,
  swarmRef: USE_CONFIG,
  activeSwarmBundleRef: 'Use ctx.bundleFolder.',
  agents: USE_CONFIG,
  createdAt: USE_KEY,
  lastActivityAt: USE_KEY,
  status: USE_KEY,
  metadata: USE_KEY,
};

const removedFromAgent = {
  apiVersion: USE_CONFIG,
  spec: `${USE_CONFIG} The tools of the step are in ctx.toolCatalog, and the system prompt is the first of ctx.blocks.`,
};

const removedFromMetadata = { labels: USE_CONFIG, annotations: USE_CONFIG };
