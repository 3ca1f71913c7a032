/**
 * Compares two requests in the order in which providers cache them (tools, system messages, messages), and names the
 * first difference and its cause: the layer that changed the request, the author of the message event, or a change of
 * the bundle.
 */
import type { ModelMessage, ToolCatalogItem } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';
import { isAsBefore } from '../../json/snapshot-json.ts';
import type { CacheLoss, CacheLossCause } from '../../trace/cache-loss.ts';
import type { LayerChange } from '../../trace/layer-span.ts';
import type { AskedModel } from '../../trace/model-request.ts';
import type { EventAuthor } from '../conversation/conversation-store.ts';
import type { MessageAuthors } from '../conversation/message-authors.ts';

/** A request of a step, as it reached the model. */
export interface ComparedRequest extends Pick<
  AskedModel,
  'modelRef' | 'params' | 'tools' | 'messages' | 'stableCount' | 'sent'
> {
  readonly idOf: NonNullable<AskedModel['idOf']>;
  /** The changes of the layers of the step and of its model call, in order. */
  readonly changes: readonly LayerChange[];
  readonly authors: MessageAuthors;
  /** The number of message events before the request. */
  readonly eventCount: number;
  /** The digest of the step's plan. */
  readonly plan: string | undefined;
  /** Returns the extension that registered a tool. */
  readonly ownerOf: (tool: string) => string | undefined;
}

type Found = Omit<CacheLoss, 'tokens'>;

/** Returns undefined when the request only extends the last one. */
export function findCacheLoss(last: ComparedRequest, now: ComparedRequest): Found | undefined {
  return findModel(last, now) ?? findParams(last, now) ?? findTools(last, now) ?? findMessage(last, now);
}

function findModel(last: ComparedRequest, now: ComparedRequest): Found | undefined {
  if (last.modelRef === now.modelRef) return findModelId(last, now);
  const changes = (change: Change) => change.before['modelRef'] !== change.after['modelRef'];
  const by = changerIn(now, changes) ?? changerIn(last, changes) ?? changedPlan(last, now);
  return { at: 'model', by, did: `chose ${now.modelRef} instead of ${last.modelRef}` };
}

/** Finds a change of the Model resource itself, which only a change of the bundle can cause. */
function findModelId(last: ComparedRequest, now: ComparedRequest): Found | undefined {
  const [before, after] = [last.sent?.model, now.sent?.model];
  if (before === after) return undefined;
  return { at: 'model', by: changedPlan(last, now), did: `chose ${after} instead of ${before}` };
}

/** Of the params, only options of the provider are part of the cached prompt, such as a budget for thinking. */
function findParams(last: ComparedRequest, now: ComparedRequest): Found | undefined {
  if (isAsBefore(last.params.providerOptions, now.params.providerOptions)) return undefined;
  const changes = ({ before, after }: Change) => !isAsBefore(before['params'], after['params']);
  const by = changerIn(now, changes) ?? changerIn(last, changes) ?? changedPlan(last, now);
  return { at: 'params', by, did: 'changed `providerOptions`' };
}

function findTools(last: ComparedRequest, now: ComparedRequest): Found | undefined {
  const [before, after] = [byName(last.tools), byName(now.tools)];
  const removed = [...before.keys()].filter((name) => !after.has(name));
  const added = [...after.keys()].filter((name) => !before.has(name));
  const changed = [...after].flatMap(([name, tool]) =>
    before.has(name) && !isAsBefore(before.get(name), tool) ? [name] : [],
  );
  const hasMoved = last.tools.some(({ name }, at) => now.tools[at]?.name !== name);
  const [did, names] =
    removed.length > 0
      ? (['removed', removed] as const)
      : changed.length > 0
        ? (['changed', changed] as const)
        : added.length > 0
          ? (['added', added] as const)
          : (['moved', last.tools.map(({ name }) => name)] as const);
  if (did === 'moved' && !hasMoved) return undefined;
  const [first = ''] = names;
  const changes = (change: Change) =>
    toolFields.some((field) => !isAsBefore(toolIn(change.before[field], first), toolIn(change.after[field], first)));
  const owner = now.ownerOf(first);
  const by =
    changerIn(now, changes) ??
    changerIn(last, changes) ??
    (owner === undefined ? changedPlan(last, now) : ({ kind: 'extension', name: owner } as const));
  return { at: 'tools', by, did: `${did} ${listNames(names)}` };
}

const toolFields = ['tools', 'toolCatalog'];

function toolIn(tools: unknown, name: string): unknown {
  return Array.isArray(tools) ? tools.find((tool) => isPlainObject(tool) && tool['name'] === name) : undefined;
}

function byName(tools: readonly ToolCatalogItem[]): ReadonlyMap<string, ToolCatalogItem> {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

const MOST_NAMED = 3;

function listNames(names: readonly string[]): string {
  const named = names.slice(0, MOST_NAMED).map((name) => `\`${name}\``);
  const more = names.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function findMessage(last: ComparedRequest, now: ComparedRequest): Found | undefined {
  const [before, after] = [cachedPart(last), inCachedOrder(now)];
  let at = 0;
  while (at < before.length && isAsBefore(before[at], after[at])) at += 1;
  const [old, fresh] = [before[at], after[at]];
  if (old === undefined) return undefined;
  const id = last.idOf(old);
  const isStillThere = now.messages.some((message) =>
    id === undefined ? isAsBefore(old, message) : now.idOf(message) === id,
  );
  const isSame = fresh !== undefined && id !== undefined && now.idOf(fresh) === id;
  if (isStillThere && fresh !== undefined && !isSame) return placed(now, fresh, whoAdded(now, fresh));
  return placed(last, old, whoEnded(last, now, old, fresh));
}

/**
 * Returns the messages that the cache can hold. Anthropic's cache ends at a breakpoint, and only stable messages have
 * one: in front of a system message that is not stable, only the system messages before it.
 */
function cachedPart(request: ComparedRequest): readonly ModelMessage[] {
  const { messages, stableCount = messages.length, sent } = request;
  if (sent?.provider !== 'anthropic') return inCachedOrder(request);
  const stable = messages.slice(0, stableCount);
  return messages.slice(stableCount).some(isSystem)
    ? stable.filter(isSystem)
    : inCachedOrder({ messages: stable, sent });
}

/** Only OpenAI gets system messages in place. The other providers get them before all others. */
function inCachedOrder({ messages, sent }: Pick<ComparedRequest, 'messages' | 'sent'>): readonly ModelMessage[] {
  if (sent?.provider === 'openai') return messages;
  return [...messages.filter(isSystem), ...messages.filter((message) => !isSystem(message))];
}

function isSystem({ role }: ModelMessage): boolean {
  return role === 'system';
}

function placed({ messages, idOf }: ComparedRequest, message: ModelMessage, cause: Pick<Found, 'by' | 'did'>): Found {
  const position = messages.indexOf(message);
  const isPrompt = position === 0 && message.role === 'system' && idOf(message) === undefined;
  return isPrompt ? { at: 'system prompt', ...cause } : { at: 'message', position, ...cause };
}

function whoAdded(now: ComparedRequest, message: ModelMessage): Pick<Found, 'by' | 'did'> {
  const id = now.idOf(message);
  const author = id === undefined ? undefined : now.authors.of(id);
  const by = author === undefined ? changerIn(now, puts(message)) : causeOf(author);
  return { by: by ?? { kind: 'runtime' }, did: 'added it' };
}

function whoEnded(
  last: ComparedRequest,
  now: ComparedRequest,
  old: ModelMessage,
  fresh: ModelMessage | undefined,
): Pick<Found, 'by' | 'did'> {
  const id = last.idOf(old);
  const end = id === undefined ? undefined : now.authors.endOf(id, last.eventCount);
  if (id !== undefined && end !== undefined) {
    // The runtime removes messages that were meant for one step or turn.
    const putBy = end.author.kind === 'runtime' ? now.authors.of(id) : undefined;
    if (putBy !== undefined) return { by: causeOf(putBy), did: 'had added it for one step or turn' };
    return { by: causeOf(end.author), did: endings[end.event] };
  }
  const replacing = fresh === undefined || now.idOf(fresh) !== undefined ? undefined : changerIn(now, puts(fresh));
  if (replacing !== undefined) return { by: replacing, did: 'replaced it' };
  const removing = changerIn(now, takes(old)) ?? changerIn(last, puts(old));
  if (removing !== undefined) return { by: removing, did: 'removed it' };
  return { by: changedPlan(last, now), did: 'changed it' };
}

const endings = { replace: 'replaced it', remove: 'removed it', truncate: 'truncated the conversation' };

function puts(message: ModelMessage): (change: Change) => boolean {
  return ({ before, after }) => holds(after['messages'], message) && !holds(before['messages'], message);
}

function takes(message: ModelMessage): (change: Change) => boolean {
  return ({ before, after }) => holds(before['messages'], message) && !holds(after['messages'], message);
}

function holds(messages: unknown, message: ModelMessage): boolean {
  return Array.isArray(messages) && messages.some((each) => isAsBefore(each, message));
}

interface Change {
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
}

/** Returns the layer that made such a change; the last one, because it had the last word. */
function changerIn({ changes }: ComparedRequest, isMadeBy: (change: Change) => boolean): CacheLossCause | undefined {
  const change = changes.findLast(
    ({ before, after }) => isPlainObject(before) && isPlainObject(after) && isMadeBy({ before, after }),
  );
  return change && { kind: 'extension', name: change.extension };
}

function changedPlan(last: ComparedRequest, now: ComparedRequest): CacheLossCause {
  return { kind: last.plan === now.plan ? 'runtime' : 'bundle' };
}

function causeOf(author: EventAuthor): CacheLossCause {
  switch (author.kind) {
    case 'extension':
    case 'tool':
      return { kind: author.kind, name: author.name };
    case 'model':
      return { kind: 'model', ...(author.ref !== undefined && { name: author.ref }) };
    case 'input':
      return { kind: 'input', ...(author.from !== undefined && { name: author.from.name }) };
    case 'runtime':
      return { kind: 'runtime' };
  }
}
