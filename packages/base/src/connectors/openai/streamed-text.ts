/**
 * The text of a turn, streamed to a client: sent text cannot be taken back, and at the end the whole answer must have
 * been sent. Texts of several steps, and of a retried step, are separated by an empty line.
 */
import type { TurnDelta } from '@goondan/types';

const PART = '\n\n';

export class StreamedText {
  #sent = '';
  /** The text of the current step. */
  #ofStep = '';
  #stepId: string | undefined;

  /** Everything that was sent. */
  get sent(): string {
    return this.#sent;
  }

  /** Returns the text to send now; may be empty. */
  add(delta: TurnDelta): string {
    if (delta.type === 'discard') {
      if (delta.stepId === this.#stepId) this.#stepId = undefined;
      return '';
    }
    if (delta.type !== 'text' || delta.text === '') return '';
    const isNew = delta.stepId !== this.#stepId;
    this.#stepId = delta.stepId;
    this.#ofStep = isNew ? delta.text : this.#ofStep + delta.text;
    return this.#send(isNew ? this.#parted(delta.text) : delta.text);
  }

  /** Returns the missing part of the answer: all of it if a layer held it back, some of it if a delta was lost. */
  finish(response: string): string {
    if (this.#sent !== '' && response.startsWith(this.#ofStep)) return this.#send(response.slice(this.#ofStep.length));
    return this.#send(response === '' ? '' : this.#parted(response));
  }

  #parted(text: string): string {
    return this.#sent === '' ? text : PART + text;
  }

  #send(text: string): string {
    this.#sent += text;
    return text;
  }
}
