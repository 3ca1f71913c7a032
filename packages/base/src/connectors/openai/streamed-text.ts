/**
 * Streams the text of a turn to a client. Sent text cannot be taken back, and at the end the client must have the whole
 * answer. An empty line comes between the texts of two steps, and before the text of a retried step.
 */
import type { TurnDelta } from '@goondan/types';

const PART = '\n\n';

export class StreamedText {
  #sent = '';
  /** The text of the current step. */
  #ofStep = '';
  #stepId: string | undefined;

  /** All text sent so far. */
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

  /**
   * Returns the part of the answer that was not sent yet. If a layer buffered the answer, that is the whole answer. If
   * a delta was lost, it is the rest of the answer.
   */
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
