import { describe, expect, test } from 'bun:test';
import { createAssistantMessage, createUserMessage, type MiddlewareKind, type TurnDelta } from '@goondan/types';
import { LayerRegistry } from '../pipeline/layer-registry.ts';
import { DeltaGate } from './delta-gate.ts';

const step = { stepId: 'turn-1.step-0', stepIndex: 0 };
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** Takes a step and its turn through the gate; gives the texts that left at each moment. */
function leave(...buffering: MiddlewareKind[]): Record<string, readonly string[]> {
  const layers = new LayerRegistry();
  for (const kind of ['turn', 'step', 'toolCall', 'model'] as const) {
    layers.add('e', 'agent', kind, () => undefined, { buffers: buffering.includes(kind) });
  }
  const heard: TurnDelta[] = [];
  const gate = new DeltaGate(
    'turn-1',
    (delta) => heard.push(delta),
    (kind) => layers.of(kind),
  );
  const during = (action: () => void) => {
    action();
    return heard.splice(0).map((delta) => (delta.type === 'discard' ? 'discard' : delta.text));
  };
  return {
    streaming: during(() => gate.streaming(step, { type: 'text', text: 'raw' })),
    model: during(() =>
      gate.modelFinished(step, { content: [{ type: 'text', text: 'm' }], finishReason: 'stop', usage }),
    ),
    step: during(() => gate.stepFinished(step, createAssistantMessage('s'))),
    turn: during(() => gate.turnFinished(step, createAssistantMessage([{ type: 'text', text: 't' }]))),
    discard: during(() => gate.discard(step)),
  };
}

describe('the gate of streamed text', () => {
  const silent = { streaming: [], model: [], step: [], turn: [], discard: [] };

  test('lets everything through when nobody buffers', () => {
    expect(leave()).toEqual({ ...silent, streaming: ['raw'], discard: ['discard'] });
  });

  test('waits for the chain of the layer that buffers, and lets through what that chain made of it', () => {
    expect(leave('model')).toEqual({ ...silent, model: ['m'], discard: ['discard'] });
    expect(leave('step')).toEqual({ ...silent, step: ['s'] });
    expect(leave('toolCall')).toEqual({ ...silent, step: ['s'] });
    expect(leave('turn')).toEqual({ ...silent, turn: ['t'] });
  });

  test('waits for the widest chain when several buffer', () => {
    expect(leave('model', 'step')).toEqual({ ...silent, step: ['s'] });
    expect(leave('turn', 'model')).toEqual({ ...silent, turn: ['t'] });
  });

  test('says with each piece which turn and step it belongs to, and hands reasoning on as such', () => {
    const heard: TurnDelta[] = [];
    const gate = new DeltaGate(
      'turn-1',
      (delta) => heard.push(delta),
      () => [],
    );
    gate.streaming(step, { type: 'reasoning', text: 'hm' });
    gate.discard(step);
    expect(heard).toEqual([
      { type: 'reasoning', text: 'hm', turnId: 'turn-1', ...step },
      { type: 'discard', turnId: 'turn-1', ...step },
    ]);
  });

  test('says nothing of a reply that is gone or is not the model’s, and nothing to nobody', () => {
    const heard: TurnDelta[] = [];
    const layers = new LayerRegistry();
    layers.add('e', 'agent', 'step', () => undefined, { buffers: true });
    const gate = new DeltaGate(
      'turn-1',
      (delta) => heard.push(delta),
      (kind) => layers.of(kind),
    );
    gate.stepFinished(step, undefined);
    gate.stepFinished(step, createUserMessage('not mine'));
    expect(heard).toEqual([]);
    expect(() =>
      new DeltaGate('turn-1', undefined, () => []).streaming(step, { type: 'text', text: 'x' }),
    ).not.toThrow();
  });
});
