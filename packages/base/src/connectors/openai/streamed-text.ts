/**
 * A turn's text as a client gets it piece by piece: what has left cannot be taken back, and in the end the answer has to be
 * there. Texts of several steps, and one that is tried again, are parted by an empty line.
 */
import type { TurnDelta } from '@goondan/types';

const PART = '\n\n';

export class StreamedText {
  #sent = '';
  /** The text of the present step. */
  #ofStep = '';
  #stepId: string | undefined;

  /** All that has left. */
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
