/**
 * Rebuilds the model requests of a turn from the lines of its trace and the messages of its conversation. Pure. A request
 * may refer to an earlier one of the same run, and a part is in the first request of the run that has it.
 */
import type { JsonObject, JsonValue, ModelMessage, ModelParams, ModelReply, ToolCatalogItem } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';
import { defined } from '../../json/defined.ts';
import { Sha256 } from '../../json/sha256.ts';
import { DIGITS, type ModelRequestRecord, type ReferredMessage, type ReferredRun } from '../../trace/model-request.ts';
import type { PartOrigin } from '../../trace/part-origins.ts';
import type { LineOf, TraceLine } from '../../trace/trace-lines.ts';
import type { TurnSummary } from '../../trace/turn-trace.ts';
import { attributeFields } from './attribute-fields.ts';
import { ChainsOfRun } from './chains-of-run.ts';
import type {
  PartAuthor,
  PromptProblem,
  RebuiltCall,
  RebuiltMessage,
  RebuiltTool,
  RequestFields,
} from './rebuilt-call.ts';
import {
  digestOf,
  type FoundMessage,
  type ReferredMessages,
  shortDigest,
  type WantedMessages,
} from './referred-messages.ts';

/** A line of a model call that sent a request. */
type SentLine = LineOf<'effect'> & { readonly request: NonNullable<LineOf<'effect'>['request']> };

/** Lists the messages to which the requests refer. */
export function wantedMessages(lines: readonly TraceLine[]): WantedMessages {
  const ids = new Set<string>();
  const runs: ReferredRun[] = [];
  for (const { request } of lines.filter(isSent)) {
    for (const reference of request.references.more) {
      if (isRun(reference)) runs.push(reference);
      else if (reference.id !== undefined) ids.add(reference.id);
    }
    for (const origin of Object.values(request.origins ?? {})) if (origin?.from === 'message') ids.add(origin.id);
  }
  return { ids, runs };
}

type PromptedTurn = Pick<TurnSummary, 'agentName' | 'turnId' | 'source'>;

/** Rebuilds the requests, in the order in which their calls ended. */
export function rebuildRequests(
  lines: readonly TraceLine[],
  turn: PromptedTurn,
  conversation: ReferredMessages,
): readonly RebuiltCall[] {
  const isDamaged = lines.some(({ type }) => type === 'dropped' || type === 'cut');
  const demander = demanderOf(lines, turn);
  return splitRuns(lines).flatMap((ofRun, run) => {
    const chains = new ChainsOfRun(ofRun);
    const requests = new RunRequests(turn.agentName, conversation, isDamaged, demander);
    return ofRun.filter(isSent).map((line) => requests.rebuild(line, run, chains));
  });
}

/** The schema for the answer is that of the event, or else that of the agent. */
function demanderOf(lines: readonly TraceLine[], { agentName, turnId, source }: PromptedTurn): PartAuthor {
  const beginning = lines.find((line) => line.type === 'beginning');
  if (beginning === undefined) return { kind: 'unknown' };
  if (beginning.event.output === undefined) return { kind: 'agent', name: agentName };
  return { kind: 'conversation', author: { kind: 'input', ...(source && { from: source }) }, turnId };
}

function splitRuns(lines: readonly TraceLine[]): readonly (readonly TraceLine[])[] {
  const runs: TraceLine[][] = [];
  for (const line of lines) {
    if (line.type === 'start' || runs.length === 0) runs.push([line]);
    else runs.at(-1)?.push(line);
  }
  return runs;
}

function isSent(line: TraceLine): line is SentLine {
  return line.type === 'effect' && line.kind === 'model' && line.request !== undefined && isPlainObject(line.asked);
}

function isRun(reference: ReferredMessage | ReferredRun): reference is ReferredRun {
  return 'to' in reference;
}

/** The requests of one run, rebuilt in the order of their lines. */
class RunRequests {
  readonly #parts = new Map<string, JsonValue>();
  readonly #origins = new Map<string, PartOrigin | null>();
  /** The messages of each request, by the key of its call. */
  readonly #messages = new Map<string, readonly RebuiltMessage[]>();

  constructor(
    private readonly agentName: string,
    private readonly conversation: ReferredMessages,
    private readonly isDamaged: boolean,
    /** Who demanded that the answer fits a schema. */
    private readonly demander: PartAuthor,
  ) {}

  rebuild(line: SentLine, run: number, chains: ChainsOfRun): RebuiltCall {
    const { key, request, outcome, by } = line;
    for (const [digest, part] of Object.entries(request.parts ?? {})) this.#parts.set(digest, part);
    for (const [digest, origin] of Object.entries(request.origins ?? {})) this.#origins.set(digest, origin);
    // Safe: `RequestRecorder` made this value.
    const asked = line.asked as ModelRequestRecord;
    const problems = new Problems(this.isDamaged);
    const messages = this.#messagesOf(line, asked, problems);
    this.#messages.set(key, messages);
    const tools = this.#toolsOf(line, asked, problems);
    const settings = request.settings === undefined ? undefined : this.#part(request.settings, 'settings', problems);
    const { provider, model, package: made, bodyDigest } = request;
    const found = chains.find(key);
    const shape = isPlainObject(settings) ? settings : undefined;
    const fields = this.#fieldsOf(line, asked, problems);
    return {
      effect: key,
      run,
      ...(found?.step === undefined ? {} : { step: found.step }),
      ...(found && { spanId: found.chain.spanId }),
      ...(by === undefined ? {} : { by: { extension: by.extension, name: by.name } }),
      provider,
      ...(model === undefined ? {} : { model }),
      ...(made === undefined ? {} : { package: made }),
      bodyDigest,
      request: {
        modelRef: asked.modelRef,
        messages,
        tools,
        ...attributeFields({ asked, request, by, layers: found?.chain.layers, shape, agentName: this.agentName }),
        ...(fields.outputSchema === undefined ? {} : { outputAuthor: this.demander }),
        fields,
      },
      ...(shape === undefined ? {} : { settings: shape }),
      problems: problems.found,
      // Safe: only checked replies are recorded.
      ...(outcome?.ok === true && { reply: outcome.value as unknown as ModelReply }),
      ...(outcome?.ok === false && { error: outcome.error }),
    };
  }

  #messagesOf({ request, by }: SentLine, asked: ModelRequestRecord, problems: Problems): readonly RebuiltMessage[] {
    const { after, more } = request.references;
    const before = after === undefined ? [] : this.#messages.get(after.effect);
    if (before === undefined) problems.add('damaged', `the earlier request "${after?.effect}" is not in the trace`);
    const messages = [
      ...(before ?? []).slice(0, after?.count ?? 0),
      ...more.flatMap((reference) =>
        isRun(reference) ? this.#runOf(reference) : [this.#messageOf(reference, by, problems)],
      ),
    ];
    for (const each of messages) if (each.message === undefined) problems.lack(each, this.conversation);
    const isComplete = messages.every(({ message }) => message !== undefined);
    if (isComplete && digestAll(messages).slice(0, DIGITS) !== asked.messages.digest) {
      problems.add('damaged', 'the messages do not match the digest of the request');
    }
    return messages;
  }

  #runOf(run: ReferredRun): readonly RebuiltMessage[] {
    const found = this.conversation.findRun(run);
    if (found?.length === run.count)
      return found.map((each) => ({ ...withId(each), digest: shortDigest(each.message) }));
    return [{ ...run, author: { kind: 'unknown' } }];
  }

  #messageOf({ id, digest }: ReferredMessage, by: SentLine['by'], problems: Problems): RebuiltMessage {
    if (id !== undefined) {
      const found = this.conversation.find(id, digest);
      return found === undefined ? { id, digest, author: this.#authorOf(id) } : { ...withId(found), digest };
    }
    // Safe: a part that a reference names is a message; its digest is checked.
    const message = this.#part(digest, 'message', problems) as ModelMessage | undefined;
    return { digest, ...(message === undefined ? {} : { message }), author: this.#authorOfPart(digest, by) };
  }

  #authorOf(id: string): PartAuthor {
    const found = this.conversation.find(id);
    return found === undefined ? { kind: 'unknown' } : authorOf(found);
  }

  #authorOfPart(digest: string, by: SentLine['by']): PartAuthor {
    const origin = this.#origins.get(digest);
    switch (origin?.from) {
      case 'prompt':
        return { kind: 'prompt', agent: this.agentName };
      case 'runtime':
        return { kind: 'runtime' };
      case 'message':
        return this.#authorOf(origin.id);
      case 'layer':
        return { kind: 'layer', layer: origin.layer, ...(origin.offeredBy && { offeredBy: origin.offeredBy }) };
      case 'tool':
        return { kind: 'tool', offeredBy: origin.offeredBy };
      default:
        // A layer that makes a call itself passes everything that no other layer added.
        return by === undefined ? { kind: 'unknown' } : { kind: 'extension', name: by.extension };
    }
  }

  #toolsOf({ request, by }: SentLine, asked: ModelRequestRecord, problems: Problems): readonly RebuiltTool[] {
    const digests = request.order ?? Object.values(asked.tools);
    return digests.map((digest) => {
      // Safe: as for messages.
      const tool = this.#part(digest, 'tool', problems) as ToolCatalogItem | undefined;
      const name = tool?.name ?? Object.keys(asked.tools).find((each) => asked.tools[each] === digest) ?? '';
      return { name, ...(tool === undefined ? {} : { tool }), author: this.#authorOfPart(digest, by) };
    });
  }

  /**
   * Returns the fields of the request beside messages and tools, as the model got them. Every field of `ModelRequest` that
   * shapes a body belongs here: `rebuildBody` passes it to the code of the provider again.
   */
  #fieldsOf({ request }: SentLine, asked: ModelRequestRecord, problems: Problems): RequestFields {
    const { stableCount, output } = request;
    const outputSchema = output === undefined ? undefined : this.#part(output, 'schema', problems);
    return { ...defined({ stableCount, outputSchema }), params: paramsOf(asked, request.unset) };
  }

  /** Returns a part, if it is there and matches its digest. */
  #part(digest: string, what: string, problems: Problems): JsonObject | undefined {
    const part = this.#parts.get(digest);
    if (isPlainObject(part) && shortDigest(part) === digest) return part;
    if (part === undefined) problems.addLost(what);
    else problems.addChanged(what, part);
    return isPlainObject(part) ? part : undefined;
  }
}

/** Collects the problems of a request, each once. */
class Problems {
  readonly found: PromptProblem[] = [];

  constructor(private readonly isDamaged: boolean) {}

  add(kind: PromptProblem['kind'], message: string): void {
    if (!this.found.some((each) => each.message === message)) this.found.push({ kind, message });
  }

  /** Adds a part that is not in the trace. */
  addLost(what: string): void {
    if (this.isDamaged) this.add('damaged', `records of the trace are missing, and with them a ${what}`);
    else this.add('missing', `a ${what} is not kept, because the parts of the request exceed the limit of a trace`);
  }

  /** Adds a part that does not match its digest. */
  addChanged(what: string, part: JsonValue): void {
    if (JSON.stringify(part).includes(MASK)) this.add('masked', `a secret in a ${what} is masked`);
    else this.add('damaged', `a ${what} does not match its digest`);
  }

  /** Adds messages of the conversation that are not there as they were sent. */
  lack({ id, to, count }: RebuiltMessage, conversation: ReferredMessages): void {
    if (id === undefined) return;
    const why = conversation.problem === undefined ? '' : ` (${conversation.problem})`;
    if (to !== undefined) {
      this.add('missing', `${count} messages from "${id}" to "${to}" are not in the conversation any more${why}`);
    } else if (!conversation.has(id)) this.add('missing', `message "${id}" is not in the conversation any more${why}`);
    else this.add('masked', `message "${id}" is in the conversation in another form, for example with a masked secret`);
  }
}

const MASK = '***';

function withId(found: FoundMessage): Omit<RebuiltMessage, 'digest'> {
  return { id: found.id, message: found.message, author: authorOf(found) };
}

function authorOf({ author, turnId, stepId }: FoundMessage): PartAuthor {
  return { kind: 'conversation', author, turnId, ...(stepId === undefined ? {} : { stepId }) };
}

/** Returns the digest of the digests of all messages. */
export function digestAll(messages: readonly Pick<RebuiltMessage, 'message'>[]): string {
  const hash = new Sha256();
  for (const { message } of messages) if (message !== undefined) hash.append(digestOf(message));
  return hash.digest();
}

/** The params of a request; those without a value are present, because they take the place of the model's own. */
function paramsOf({ params }: ModelRequestRecord, unset: readonly string[] = []): ModelParams {
  // Safe: the params of the request were JSON, or the request is not exact.
  return { ...(params as ModelParams), ...Object.fromEntries(unset.map((name) => [name, undefined])) };
}
