/**
 * Streamed text on its way out. While a layer of the agent buffers (redaction, guards), nothing leaves before that
 * layer's chain has finished, and then what leaves is what the chain made of it, not what the model first wrote.
 */
import type { Message, MiddlewareKind, ModelDelta, ModelReply, TurnDelta } from '@goondan/types';
import type { Layer } from '../pipeline/layer.ts';

export type DeltaListener = (delta: TurnDelta) => void;

/** The chain that must finish first. */
type Hold = 'nothing' | 'model' | 'step' | 'turn';

export interface StepIdentity {
  readonly stepId: string;
  readonly stepIndex: number;
}

export class DeltaGate {
  private readonly hold: Hold;

  constructor(
    private readonly turnId: string,
    private readonly listener: DeltaListener | undefined,
    layersOf: (kind: MiddlewareKind) => readonly Layer[],
  ) {
    this.hold = widestHold(layersOf);
  }

  /** While the model writes. */
  streaming(step: StepIdentity, delta: ModelDelta): void {
    if (this.hold === 'nothing') this.send(step, delta);
  }

  modelFinished(step: StepIdentity, reply: ModelReply): void {
    if (this.hold === 'model') this.sendParts(step, reply.content);
  }

  stepFinished(step: StepIdentity, reply: Message | undefined): void {
    if (this.hold === 'step') this.sendMessage(step, reply);
  }

  turnFinished(step: StepIdentity, response: Message | undefined): void {
    if (this.hold === 'turn') this.sendMessage(step, response);
  }

  /** What this step streamed does not count: it is tried again. Of a step that is held, nothing has left. */
  discard(step: StepIdentity): void {
    if (this.hold === 'step' || this.hold === 'turn') return;
    this.listener?.({ type: 'discard', turnId: this.turnId, ...step });
  }

  private sendMessage(step: StepIdentity, message: Message | undefined): void {
    if (message?.data.role !== 'assistant') return;
    const { content } = message.data;
    this.sendParts(step, typeof content === 'string' ? [{ type: 'text', text: content }] : content);
  }

  private sendParts(step: StepIdentity, parts: ModelReply['content']): void {
    for (const part of parts) {
      if (part.type === 'text' || part.type === 'reasoning') this.send(step, { type: part.type, text: part.text });
    }
  }

  private send(step: StepIdentity, delta: ModelDelta): void {
    this.listener?.({ type: delta.type, text: delta.text, turnId: this.turnId, ...step });
  }
}

function widestHold(layersOf: (kind: MiddlewareKind) => readonly Layer[]): Hold {
  const buffers = (kind: MiddlewareKind) => layersOf(kind).some((layer) => layer.buffers);
  if (buffers('turn')) return 'turn';
  if (buffers('step') || buffers('toolCall')) return 'step';
  return buffers('model') ? 'model' : 'nothing';
}
