import { describe, expect, test } from 'bun:test';
import { manualClock, scriptedAgent } from '../../testing/index.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import { startAgent } from '../start/start-agent.ts';
import type { Model } from '../model/model-port.ts';
import { modelSource } from './open-model.ts';

const model: Model = { generate: () => Promise.reject(new Error('not asked here')) };
const scripted = { provider: 'scripted', model: 'demo', options: { script: [{ say: 'hello' }] } };

const ports = () => ({ clock: manualClock(), environment: {}, folder: '.' });

describe('the models of an agent', () => {
  test('a given model is used as it is', async () => {
    const open = modelSource({ 'Model/own': model }, ports());
    expect(await open('Model/own')).toBe(model);
  });

  test('a declared model is opened once, when it is first used', async () => {
    const open = modelSource({ 'Model/demo': scripted }, ports());
    expect(await open('Model/demo')).toBe(await open('Model/demo'));
  });

  test.each(['Model/other', 'demo', 'toString', '__proto__', ''])(
    '%j is unknown, and the error lists the others',
    async (ref) => {
      const open = modelSource({ 'Model/demo': scripted, 'Model/own': model }, ports());
      expect(await open(ref).catch((error: unknown) => error)).toMatchObject({
        code: 'E_MODEL_UNKNOWN',
        message: `There is no ${ref}. This agent has: Model/demo, Model/own.`,
      });
    },
  );

  test('an unknown provider is refused by name', async () => {
    const open = modelSource({ 'Model/x': { provider: 'crystal-ball', model: 'x' } }, ports());
    expect(await open('Model/x').catch((error: unknown) => error)).toMatchObject({
      code: 'E_MODEL_UNKNOWN',
      message:
        'Model/x: there is no provider "crystal-ball". Known: anthropic, cassette, google, openai, openai-compatible, scripted.',
    });
  });

  test('a bad script fails the start, not the first turn', async () => {
    const bad = { provider: 'scripted', model: 'demo', options: { script: [{ sya: 'hello' }] } };
    const started = startAgent({ agentName: 'coder', models: { 'Model/demo': bad } }, { store: memoryStore() });
    expect(await started.catch((error: unknown) => error)).toMatchObject({ code: 'E_MODEL_SCRIPT' });
  });

  test('an agent without a model does not start', async () => {
    const started = startAgent({ agentName: 'coder', models: {} });
    expect(await started.catch((error: unknown) => error)).toMatchObject({
      code: 'E_MODEL_UNKNOWN',
      message: 'Agent "coder" has no model.',
    });
  });

  test('steps use the first model, unless another is named', async () => {
    const second = { ...scripted, options: { script: [{ say: 'from the second' }] } };
    const agent = await scriptedAgent({ models: { 'Model/second': second }, modelRef: 'Model/second' });
    expect((await agent.say('hello')).text).toBe('from the second');
    const plan = { agentName: 'coder', models: { 'Model/first': scripted, 'Model/second': second } };
    expect((await startAgent(plan)).parts.plan.modelRef).toBe('Model/first');
  });
});
