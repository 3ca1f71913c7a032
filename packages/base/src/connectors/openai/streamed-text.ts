/**
 * A turn's text as a client gets it piece by piece: what has left cannot be taken back, and in the end the answer has to be
 * there. Texts of several steps, and one that is tried again, are parted by an empty line.
 */
import type { TurnDelta } from '@goondan/types';

const PART = '\n\n';

export class StreamedText {
  #sent = '';
  /** What the step that speaks has said. */
  #ofStep = '';
  #stepId: string | undefined;

  /** All that has left. */
  get sent(): string {
    return this.#sent;
  }

  /** What is to leave now; empty for nothing. */
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

  /** What is missing of the answer: all of it when a layer held it back, something when a delta was lost. */
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
