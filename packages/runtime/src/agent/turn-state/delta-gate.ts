/**
 * Sends streamed text to the listener. If a layer of the agent buffers (for redaction or guards), nothing is sent
 * before that layer's chain has finished. Then the text that the chain returned is sent, instead of the model's
 * original text. If the answer of the turn must fit a schema, the text of a step is sent when the step has ended and its
 * answer has been checked, so that a wrong answer never leaves.
 *
 * Every delta passes through here, so secrets are masked here, even a secret that is spread over several deltas: the
 * end of the text is held back while it may be the beginning of a secret.
 */
import type { Message, MiddlewareKind, ModelDelta, ModelReply, TurnDelta } from '@goondan/types';
import { MaskedStream } from '../../log/masked-stream.ts';
import type { SecretMask } from '../../log/mask-secrets.ts';
import type { Layer } from '../pipeline/layer.ts';

export interface StepIdentity {
  readonly stepId: string;
  readonly stepIndex: number;
}

export class DeltaGate {
  /** The chain that must finish before text is sent. */
  private hold: 'nothing' | 'model' | 'step' | 'turn';
  private stream: MaskedStream | undefined;
  /** The step and the type of the text that is being streamed. */
  private open: { readonly step: StepIdentity; readonly type: ModelDelta['type'] } | undefined;

  constructor(
    private readonly turnId: string,
    private readonly listener: ((delta: TurnDelta) => void) | undefined,
    private readonly mask: SecretMask,
    private readonly layersOf: (kind: MiddlewareKind) => readonly Layer[],
    private readonly isChecked = false,
  ) {
    this.hold = widestHold(layersOf, isChecked);
  }

  /** Called between two steps when the layers or the secrets of the agent have changed. */
  changed(): void {
    this.hold = widestHold(this.layersOf, this.isChecked);
    this.endStream('end');
    this.stream = undefined;
  }

  /** Handles a delta while the model writes. */
  streaming(step: StepIdentity, delta: ModelDelta): void {
    if (this.hold !== 'nothing' || this.listener === undefined) return;
    if (this.mask.isEmpty === true) return this.send(step, delta);
    if (this.open?.type !== delta.type || this.open.step.stepId !== step.stepId) this.endStream('end');
    this.stream ??= new MaskedStream(this.mask);
    this.open = { step, type: delta.type };
    const text = this.stream.push(delta.text);
    if (text !== '') this.send(step, { type: delta.type, text });
  }

  modelFinished(step: StepIdentity, reply: ModelReply): void {
    this.endStream('end');
    if (this.hold === 'model') this.sendParts(step, reply.content);
  }

  stepFinished(step: StepIdentity, reply: Message | undefined): void {
    if (this.hold === 'step') this.sendMessage(step, reply);
  }

  turnFinished(step: StepIdentity, response: Message | undefined): void {
    if (this.hold === 'turn') this.sendMessage(step, response);
  }

  /**
   * Notifies the listener that the streamed text of this step does not count, because the step is retried. If text is
   * held back until the end of the step or the turn, nothing was sent, so there is nothing to discard.
   */
  discard(step: StepIdentity): void {
    this.open = undefined;
    this.stream?.end();
    if (this.hold === 'step' || this.hold === 'turn') return;
    const { stepId, stepIndex } = step;
    this.listener?.({ type: 'discard', turnId: this.turnId, stepId, stepIndex });
  }

  /** Sends the held-back text when a model stopped before its reply was finished. */
  brokenOff(): void {
    this.endStream('breakOff');
  }

  private endStream(how: 'end' | 'breakOff'): void {
    const { open, stream } = this;
    if (open === undefined || stream === undefined) return;
    this.open = undefined;
    const text = stream[how]();
    if (text !== '') this.send(open.step, { type: open.type, text });
  }

  private sendMessage(step: StepIdentity, message: Message | undefined): void {
    if (message?.data.role !== 'assistant') return;
    const { content } = message.data;
    this.sendParts(step, typeof content === 'string' ? [{ type: 'text', text: content }] : content);
  }

  private sendParts(step: StepIdentity, parts: ModelReply['content']): void {
    for (const part of parts) {
      if (part.type !== 'text' && part.type !== 'reasoning') continue;
      this.send(step, { type: part.type, text: this.mask(part.text) });
    }
  }

  private send({ stepId, stepIndex }: StepIdentity, { type, text }: ModelDelta): void {
    this.listener?.({ type, text, turnId: this.turnId, stepId, stepIndex });
  }
}

function widestHold(layersOf: (kind: MiddlewareKind) => readonly Layer[], isChecked: boolean) {
  const buffers = (kind: MiddlewareKind) => layersOf(kind).some((layer) => layer.buffers);
  if (buffers('turn')) return 'turn';
  if (isChecked || buffers('step') || buffers('toolCall')) return 'step';
  return buffers('model') ? 'model' : 'nothing';
}
