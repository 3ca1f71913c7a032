/**
 * Finds the messages of a conversation to which the requests of a turn refer: by id and digest, or as a run of messages
 * that followed each other. Messages that were replaced, removed or rolled back later are found, too. Every message is
 * checked with its digest.
 */
import type { AgentAddress, Message, MessageEvent, ModelMessage } from '@goondan/types';
import { GoondanError } from '@goondan/types';
import type { EventAuthor } from '../../agent/conversation/conversation-store.ts';
import { digestJson } from '../../json/digest-json.ts';
import { Sha256 } from '../../json/sha256.ts';
import { MessageList } from '../../messages/message-list.ts';
import { DIGITS, type ReferredRun } from '../../trace/model-request.ts';
import type { ArchivedEvent } from '../archive/read-archive.ts';
import type { BlamedMessage } from '../history/blamed-message.ts';
import { HistoryFold } from '../history/history-fold.ts';
import type { HistorySource } from '../history/read-history.ts';

/** A version of a message, and who wrote it. */
export interface FoundMessage {
  readonly id: string;
  readonly message: ModelMessage;
  readonly author: EventAuthor;
  readonly turnId: string;
  readonly stepId?: string;
}

export interface WantedMessages {
  readonly ids: ReadonlySet<string>;
  readonly runs: readonly ReferredRun[];
}

export class ReferredMessages {
  /** All versions of the wanted messages, by id. */
  readonly #versions = new Map<string, FoundMessage[]>();
  readonly #runs = new Map<string, readonly FoundMessage[]>();
  /** Digests of messages: a run is compared with the conversation after each event. */
  readonly #digests = new WeakMap<Message, string>();
  #problem: string | undefined;

  constructor(private readonly wanted: WantedMessages) {}

  /** The reason why the conversation could not be read to its end. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Returns the version of a message with this digest; without a digest, the first version. */
  find(id: string, digest?: string): FoundMessage | undefined {
    const versions = this.#versions.get(id) ?? [];
    return digest === undefined ? versions[0] : versions.findLast((each) => shortDigest(each.message) === digest);
  }

  /** Returns true if any version of the message is there. */
  has(id: string): boolean {
    return this.#versions.has(id);
  }

  /** Returns the messages of a run in order. */
  findRun(run: ReferredRun): readonly FoundMessage[] | undefined {
    return this.#runs.get(keyOf(run));
  }

  /** Reads the conversation up to the end of a turn, which may not be committed yet. Errors of reading are kept. */
  async read(history: HistorySource, turn: AgentAddress & { readonly turnId: string }): Promise<void> {
    try {
      if (await this.#read(history, turn)) return;
      // The turn was committed in the meantime, or it is not kept.
      this.#versions.clear();
      await this.#read(history, turn);
    } catch (error) {
      if (!GoondanError.is(error)) throw error;
      this.#problem = error.message;
    }
  }

  /** Returns true if the turn was found. */
  async #read(history: HistorySource, turn: AgentAddress & { readonly turnId: string }): Promise<boolean> {
    const { start, turns } = await history.history(turn);
    const fold = new HistoryFold(start);
    for (const each of start.messages) this.#add(foundOf(each));
    for await (const { turnId, events, ...rest } of turns) {
      this.#addAll(turnId, events);
      if (turnId === turn.turnId) {
        this.#findRuns(fold.blamed(), turnId, events);
        return true;
      }
      fold.apply({ turnId, events, ...rest });
    }
    const open = await history.openTurn?.(turn);
    const isOpen = open?.turnId === turn.turnId;
    const events = isOpen ? open.events : [];
    this.#addAll(turn.turnId, events);
    this.#findRuns(fold.blamed(), turn.turnId, events);
    return isOpen;
  }

  #addAll(turnId: string, events: readonly ArchivedEvent[]): void {
    for (const event of events) {
      const found = foundIn(turnId, event);
      if (found !== undefined) this.#add(found);
    }
  }

  #add(found: FoundMessage): void {
    if (!this.wanted.ids.has(found.id)) return;
    const versions = this.#versions.get(found.id);
    if (versions === undefined) this.#versions.set(found.id, [found]);
    else versions.push(found);
  }

  /**
   * Looks for the runs in the conversation as it was before the turn, and after each of its events. Events that do not
   * count belong to a step that was dropped or interrupted: the requests of that step saw them.
   */
  #findRuns(base: readonly BlamedMessage[], turnId: string, events: readonly ArchivedEvent[]): void {
    if (this.wanted.runs.length === 0) return;
    const authors = new Map(base.map((each) => [each.message, foundOf(each)]));
    const counted = MessageList.of(base.map(({ message }) => message));
    let dropped: { readonly list: MessageList; readonly stepId: string | undefined } | undefined;
    const apply = (list: MessageList, event: MessageEvent) => {
      list.apply(event);
      this.#lookIn(list, authors);
    };
    this.#lookIn(counted, authors);
    for (const archived of events) {
      const { event, counts } = archived;
      const found = foundIn(turnId, archived);
      if (found !== undefined && 'message' in event) authors.set(event.message, found);
      if (counts) {
        apply(counted, event);
        dropped = undefined;
        continue;
      }
      // Each dropped step begins again with the messages that count. An interrupted step may have run several times, and
      // made its messages again.
      const isAgain = found !== undefined && dropped?.list.get(found.id) !== undefined;
      if (dropped === undefined || dropped.stepId !== archived.stepId || isAgain) {
        dropped = { list: MessageList.of(counted.snapshot()), stepId: archived.stepId };
      }
      apply(dropped.list, event);
    }
  }

  #lookIn(list: MessageList, authors: ReadonlyMap<Message, FoundMessage>): void {
    for (const run of this.wanted.runs) {
      if (this.#runs.has(keyOf(run))) continue;
      const [from, to] = [list.placeOf(run.id), list.placeOf(run.to)];
      if (from === undefined || to === undefined || to - from + 1 < run.count) continue;
      const messages = list.between(from, to + 1);
      if (messages.length !== run.count || this.#digestRun(messages) !== run.digest) continue;
      this.#runs.set(
        keyOf(run),
        messages.flatMap((message) => authors.get(message) ?? []),
      );
    }
  }

  #digestRun(messages: readonly Message[]): string {
    const hash = new Sha256();
    for (const message of messages) {
      const digest = this.#digests.get(message) ?? digestOf(message.data);
      this.#digests.set(message, digest);
      hash.append(digest);
    }
    return hash.digest().slice(0, DIGITS);
  }
}

function foundOf({ message: { id, data }, author, turnId, stepId }: BlamedMessage): FoundMessage {
  return { id, message: data, author, turnId, ...(stepId === undefined ? {} : { stepId }) };
}

function foundIn(turnId: string, { event, author, stepId }: ArchivedEvent): FoundMessage | undefined {
  if (!('message' in event)) return undefined;
  const { id, data } = event.message;
  return { id, message: data, author, turnId, ...(stepId === undefined ? {} : { stepId }) };
}

/** Returns the digest of a part, as references have it. */
export function shortDigest(part: object): string {
  return digestOf(part).slice(0, DIGITS);
}

export function digestOf(part: object): string {
  // Safe: messages, tools and settings of a record are JSON.
  return digestJson(part as Parameters<typeof digestJson>[0]);
}

function keyOf({ id, to, count, digest }: ReferredRun): string {
  return JSON.stringify([id, to, count, digest]);
}
