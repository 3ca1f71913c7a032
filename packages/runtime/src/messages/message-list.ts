/**
 * The current messages of a conversation, changed in place at a cost that does not grow with the history.
 *
 * Every message has a place, the index of its slot, which stays the same until `closeHoles` or `truncate`. A removed
 * message leaves a hole. Snapshots are immutable arrays, made on demand and kept until the next change.
 */
import type { Message, MessageEvent } from '@goondan/types';

export class MessageList {
  private slots: (Message | undefined)[] = [];
  private places = new Map<string, number>();
  private snapshotTaken: readonly Message[] | undefined;
  private lowestRewrite = Number.POSITIVE_INFINITY;

  static of(messages: Iterable<Message>): MessageList {
    const list = new MessageList();
    for (const message of messages) list.append(message);
    return list;
  }

  /** The place of the next appended message. */
  get end(): number {
    return this.slots.length;
  }

  get(id: string): Message | undefined {
    const place = this.places.get(id);
    return place === undefined ? undefined : this.slots[place];
  }

  at(place: number): Message | undefined {
    return this.slots[place];
  }

  /** Returns true if a message comes after the other one, and no message is between them. */
  follows(id: string, other: string): boolean {
    const [from, to] = [this.places.get(other), this.places.get(id)];
    if (from === undefined || to === undefined || from >= to) return false;
    let place = from + 1;
    while (place < to && this.at(place) === undefined) place += 1;
    return place === to;
  }

  placeOf(id: string): number | undefined {
    return this.places.get(id);
  }

  /** Applies one event. Returns true if the event changed anything; an event with an unknown target changes nothing. */
  apply(event: MessageEvent): boolean {
    switch (event.type) {
      case 'append':
        this.append(event.message);
        return true;
      case 'replace':
        return this.replace(event.targetId, event.message);
      case 'remove':
        return this.remove(event.targetId);
      case 'truncate':
        this.reset([]);
        return true;
    }
  }

  /** Returns all messages, as an immutable array. */
  snapshot(): readonly Message[] {
    this.snapshotTaken ??= Object.freeze(this.between(0, this.end));
    return this.snapshotTaken;
  }

  /** Returns the messages in a range of places. */
  between(from: number, to: number): Message[] {
    return this.slots.slice(from, to).filter((message) => message !== undefined);
  }

  /** Returns the lowest place that was rewritten since the last call, or `Infinity` if no place was rewritten. */
  takeLowestRewrite(): number {
    const lowest = this.lowestRewrite;
    this.lowestRewrite = Number.POSITIVE_INFINITY;
    return lowest;
  }

  /**
   * Removes the holes if they are more than half of all places. Messages then get new places, so call this method only
   * between turns.
   */
  closeHoles(): void {
    if (this.slots.length < 64 || this.slots.length < 2 * this.places.size) return;
    this.reset(this.between(0, this.end));
  }

  private append(message: Message): void {
    this.places.set(message.id, this.slots.length);
    this.slots.push(message);
    this.snapshotTaken = undefined;
  }

  private replace(targetId: string, message: Message): boolean {
    const place = this.places.get(targetId);
    if (place === undefined) return false;
    this.places.delete(targetId);
    this.places.set(message.id, place);
    this.slots[place] = message;
    this.rewrote(place);
    return true;
  }

  private remove(targetId: string): boolean {
    const place = this.places.get(targetId);
    if (place === undefined) return false;
    this.places.delete(targetId);
    this.slots[place] = undefined;
    this.rewrote(place);
    return true;
  }

  private reset(messages: Message[]): void {
    this.slots = messages;
    this.places = new Map(messages.map((message, place) => [message.id, place]));
    this.rewrote(0);
  }

  private rewrote(place: number): void {
    this.lowestRewrite = Math.min(this.lowestRewrite, place);
    this.snapshotTaken = undefined;
  }
}
