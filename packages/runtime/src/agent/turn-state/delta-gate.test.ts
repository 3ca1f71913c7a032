import { describe, expect, test } from 'bun:test';
import { createAssistantMessage, createUserMessage, type MiddlewareKind, type TurnDelta } from '@goondan/types';
import { maskSecrets, noSecrets } from '../../log/mask-secrets.ts';
import { LayerRegistry } from '../pipeline/layer-registry.ts';
import { DeltaGate } from './delta-gate.ts';

const step = { stepId: 'turn-1.step-0', stepIndex: 0 };
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** Sends a step and its turn through the gate. Returns the texts that left the gate at each moment. */
function leave(...buffering: MiddlewareKind[]): Record<string, readonly string[]> {
  const layers = new LayerRegistry();
  for (const kind of ['turn', 'step', 'toolCall', 'model'] as const) {
    layers.add('e', 'agent', kind, () => undefined, { buffers: buffering.includes(kind) });
  }
  const heard: TurnDelta[] = [];
  const gate = new DeltaGate(
    'turn-1',
    (delta) => heard.push(delta),
    noSecrets,
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

  test('passes everything on when no layer buffers', () => {
    expect(leave()).toEqual({ ...silent, streaming: ['raw'], discard: ['discard'] });
  });

  test('waits for the chain of the buffering layer, and sends the text that this chain returned', () => {
    expect(leave('model')).toEqual({ ...silent, model: ['m'], discard: ['discard'] });
    expect(leave('step')).toEqual({ ...silent, step: ['s'] });
    expect(leave('toolCall')).toEqual({ ...silent, step: ['s'] });
    expect(leave('turn')).toEqual({ ...silent, turn: ['t'] });
  });

  test('waits for the outermost chain when several layers buffer', () => {
    expect(leave('model', 'step')).toEqual({ ...silent, step: ['s'] });
    expect(leave('turn', 'model')).toEqual({ ...silent, turn: ['t'] });
  });

  test('adds turn and step to each delta, and passes reasoning on as reasoning', () => {
    const heard: TurnDelta[] = [];
    const gate = new DeltaGate(
      'turn-1',
      (delta) => heard.push(delta),
      noSecrets,
      () => [],
    );
    gate.streaming(step, { type: 'reasoning', text: 'hm' });
    gate.discard(step);
    expect(heard).toEqual([
      { type: 'reasoning', text: 'hm', turnId: 'turn-1', ...step },
      { type: 'discard', turnId: 'turn-1', ...step },
    ]);
  });

  test('sends nothing for a missing reply or one that is not the model’s, and works without a listener', () => {
    const heard: TurnDelta[] = [];
    const layers = new LayerRegistry();
    layers.add('e', 'agent', 'step', () => undefined, { buffers: true });
    const gate = new DeltaGate(
      'turn-1',
      (delta) => heard.push(delta),
      noSecrets,
      (kind) => layers.of(kind),
    );
    gate.stepFinished(step, undefined);
    gate.stepFinished(step, createUserMessage('not mine'));
    expect(heard).toEqual([]);
    expect(() =>
      new DeltaGate('turn-1', undefined, noSecrets, () => []).streaming(step, { type: 'text', text: 'x' }),
    ).not.toThrow();
  });
});

describe('the gate of streamed text, and secrets', () => {
  const second = { stepId: 'turn-1.step-1', stepIndex: 1 };

  function masking(...kinds: MiddlewareKind[]) {
    const layers = new LayerRegistry();
    for (const kind of kinds) layers.add('e', 'agent', kind, () => undefined, { buffers: true });
    const heard: string[] = [];
    const hear = (delta: TurnDelta) =>
      heard.push(
        delta.type === 'discard' ? `discard ${delta.stepIndex}` : `${delta.type} ${delta.stepIndex}: ${delta.text}`,
      );
    const gate = new DeltaGate('turn-1', hear, maskSecrets(['canary-12345']), (kind) => layers.of(kind));
    return { gate, heard };
  }
  const written = (...pieces: string[]) => pieces.map((text) => ({ type: 'text' as const, text }));
  const reply = (text: string) => ({ content: written(text), finishReason: 'stop' as const, usage });

  test('a secret that comes in several deltas is not sent; the rest is sent at once', () => {
    const { gate, heard } = masking();
    for (const delta of written('the ', 'key is c', 'anary', '-123', '45', ', you', ' see'))
      gate.streaming(step, delta);
    expect(heard).toEqual(['text 0: the ', 'text 0: key is ', 'text 0: ***', 'text 0: , you', 'text 0:  see']);
  });

  test('held-back text is sent when the reply is complete, or another part or step begins', () => {
    const { gate, heard } = masking();
    gate.streaming(step, { type: 'reasoning', text: 'can' });
    gate.streaming(step, { type: 'text', text: 'canary' });
    gate.modelFinished(step, reply('canary'));
    gate.streaming(second, { type: 'text', text: 'c' });
    gate.streaming(step, { type: 'text', text: 'x' });
    expect(heard).toEqual(['reasoning 0: can', 'text 0: canary', 'text 1: c', 'text 0: x']);
  });

  test('held-back text is sent when the model is broken off, but masked if it is most of a secret', () => {
    const { gate, heard } = masking();
    gate.streaming(step, { type: 'text', text: 'a canary' });
    gate.brokenOff();
    gate.brokenOff();
    gate.streaming(step, { type: 'text', text: 'a canary-1234' });
    gate.brokenOff();
    expect(heard).toEqual(['text 0: a ', 'text 0: canary', 'text 0: a ', 'text 0: ***']);
  });

  test('held-back text of a discarded step is dropped', () => {
    const { gate, heard } = masking();
    gate.streaming(step, { type: 'text', text: 'canary-123' });
    gate.discard(step);
    gate.streaming(second, { type: 'text', text: '45' });
    expect(heard).toEqual(['discard 0', 'text 1: 45']);
  });

  test('a secret that a buffering layer put into a reply is masked too', () => {
    const { gate, heard } = masking('model');
    gate.modelFinished(step, reply('it is canary-12345'));
    expect(heard).toEqual(['text 0: it is ***']);
  });
});
