import { createUserMessage, type MessageEvent } from '@goondan/types';
import { expect, test } from 'bun:test';
import { steeringInput } from '../../testing/input-event.ts';
import type { StepRecord, TurnRecord } from './conversation-store.ts';
import { fromResumePoint, toResumePoint } from './resume-point.ts';
import { readTurnLog } from './turn-log.ts';

const step = (stepIndex: number): StepRecord => ({
  type: 'step',
  stepId: `s${stepIndex}`,
  stepIndex,
  outcome: 'completed',
  result: { status: 'completed', hasToolCalls: true, metadata: {} },
  toolResults: [],
  metadata: { step: stepIndex },
  extensionState: { memory: { step: stepIndex } },
});
const effect = (key: string): TurnRecord => ({
  type: 'effect',
  key,
  kind: 'model',
  outcome: { ok: true, value: { key, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } } },
  paid: { provider: 'scripted', model: 'm' },
});
const input: MessageEvent = { type: 'append', message: createUserMessage('hello', {}, { id: 'i' }) };

test('a resume point keeps the part of a log that a resumed turn reads, without the effects of finished steps', () => {
  const log = readTurnLog(
    [
      { type: 'message', event: input, author: { kind: 'input' } },
      effect('pre/memory/model/0'),
      { type: 'entered', metadata: {}, extensionState: {} },
      effect('0/model'),
      { type: 'intent', key: '0/call/a', kind: 'tool' },
      step(0),
      effect('10/model'),
      effect('1/model'),
      { type: 'intent', key: '1/call/b', kind: 'tool' },
    ],
    { movedFrom: 'one' },
  );
  const resumePoint = toResumePoint(log);
  expect(resumePoint).toMatchObject({ events: 1, inputId: 'i', intents: ['1/call/b'], nextStep: 1 });
  expect(Object.keys(resumePoint.effects).toSorted()).toEqual(['1/model', '10/model', 'pre/memory/model/0']);
  // Converts the resume point to JSON and back, as if it were read from a file.
  const again = fromResumePoint(JSON.parse(JSON.stringify(resumePoint)) as typeof resumePoint, log.events);
  const { metadata: _metadata, extensionState: _state, ...rest } = step(0);
  expect(again).toEqual({
    events: [input],
    inputId: 'i',
    taken: [],
    effects: new Map(Object.entries(resumePoint.effects)),
    intents: new Set(['1/call/b']),
    steps: [{ ...rest, metadata: {}, extensionState: {} }],
    usage: { usage: { inputTokens: 4, outputTokens: 4, totalTokens: 8 } },
    restorePoint: { metadata: { step: 0 }, extensionState: { memory: { step: 0 } } },
    resumes: 0,
    movedFrom: 'one',
  });
});

test('a turn that was interrupted before its steps starts with the first one and has no restore point', () => {
  const log = readTurnLog([{ type: 'message', event: input, author: { kind: 'input' } }]);
  const usage = { usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } };
  expect(toResumePoint(log)).toEqual({
    events: 1,
    inputId: 'i',
    effects: {},
    intents: [],
    nextStep: 0,
    usage,
    steps: [],
  });
  expect(fromResumePoint(toResumePoint(log), log.events).restorePoint).toBeUndefined();
});

test('Y-08 a resume point keeps the step after an input that the turn has taken', () => {
  const log = readTurnLog([
    { type: 'message', event: input, author: { kind: 'input' }, took: { ...steeringInput('n', 2), beforeStep: 1 } },
  ]);
  const taken = [{ messageId: 'i', eventId: 'n', beforeStep: 1 }];
  expect(toResumePoint(log).taken).toEqual(taken);
  expect(fromResumePoint(toResumePoint(log), log.events).taken).toEqual(taken);
});
