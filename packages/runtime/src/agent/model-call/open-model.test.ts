import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';
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

  test('a cassette stays open after a change of the plan, unless it or its upstream has changed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'goondan-models-'));
    try {
      writeFileSync(join(folder, 'played.jsonl'), '{"cassette":1}\n');
      const cassette = (options: JsonObject) => ({ provider: 'cassette', model: 'c', options });
      const entries = {
        'Model/played': cassette({ mode: 'replay', file: 'played.jsonl' }),
        'Model/recorded': cassette({ mode: 'record', file: 'recorded.jsonl', upstream: 'Model/outer' }),
        'Model/outer': cassette({ mode: 'record', file: 'outer.jsonl', upstream: 'Model/inner' }),
        'Model/inner': scripted,
        'Model/other': scripted,
      };
      const deps = { ...ports(), folder };
      const before = modelSource(entries, deps);
      const opened = (source: typeof before) => Promise.all(Object.keys(entries).map((ref) => source(ref)));
      const old = await opened(before);
      const changed = { ...scripted, options: { script: [{ say: 'changed' }] } };
      const kept = async (change: Partial<typeof entries>) => {
        const now = await opened(modelSource({ ...entries, ...change }, deps, before));
        return Object.keys(entries).filter((_, index) => now[index] === old[index]);
      };
      expect(await kept({ 'Model/other': changed })).toEqual(Object.keys(entries).slice(0, 4));
      expect(await kept({ 'Model/inner': changed })).toEqual(['Model/played', 'Model/other']);
    } finally {
      rmSync(folder, { recursive: true });
    }
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
