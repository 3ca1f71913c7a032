import { describe, expect, test } from 'bun:test';
import type { MiddlewareKind, MiddlewareOptions } from '@goondan/types';
import { LayerRegistry } from './layer-registry.ts';

const kinds: readonly MiddlewareKind[] = ['turn', 'step', 'toolCall', 'model'];
const pass = (ctx: { next(): unknown }) => ctx.next();

/** Returns the error that adding this middleware throws. */
function refusal(kind: unknown, run: unknown, options?: unknown): unknown {
  try {
    // Authors in plain JavaScript may pass anything.
    new LayerRegistry().add('guard', 'agent', kind, run, options as MiddlewareOptions);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('the middleware kinds', () => {
  test.each([...kinds])('P-02 %s is a kind', (kind) => {
    const registry = new LayerRegistry();
    registry.add('guard', 'agent', kind, pass);
    expect(kinds.filter((each) => registry.of(each).length === 1)).toEqual([kind]);
  });

  test.each(['turns', 'Turn', 'tool', '', 'step.llmCall', '__proto__', 'constructor', undefined, null, 7, {}])(
    'P-02 %p is not a kind: a coded error names the extension and the valid kinds',
    (kind) => {
      const error = refusal(kind, pass);
      expect(error).toMatchObject({ code: 'E_PIPELINE_KIND' });
      expect(String(error)).toContain('"guard"');
      expect(String(error)).toContain('The kinds are turn, step, toolCall, model.');
    },
  );

  test.each([[undefined], [null], ['name'], [{}], [[]]])('P-01 %p is not a middleware: only a function is', (run) => {
    expect(refusal('turn', run)).toMatchObject({ code: 'E_PIPELINE_OPTIONS' });
  });
});

describe('one extension registers', () => {
  test('P-14 several kinds, and several of the same kind, in order', () => {
    const registry = new LayerRegistry();
    registry.add('many', 'agent', 'step', pass, { name: 'first' });
    registry.add('many', 'agent', 'turn', pass, { name: 'around' });
    registry.add('many', 'agent', 'step', pass, { name: 'second' });
    expect(registry.of('step').map(({ name }) => name)).toEqual(['first', 'second']);
    expect(registry.of('turn').map(({ name }) => name)).toEqual(['around']);
  });

  test('P-05 a layer added after the order was read is sorted in', () => {
    const registry = new LayerRegistry();
    registry.add('a', 'agent', 'step', pass);
    expect(registry.of('step').map(({ extension }) => extension)).toEqual(['a']);
    registry.add('b', 'agent', 'step', pass, { priority: -1 });
    expect(registry.of('step').map(({ extension }) => extension)).toEqual(['b', 'a']);
  });
});

test('a warning is given once for each layer, also for two of one extension', () => {
  const registry = new LayerRegistry();
  for (const name of ['first', 'second']) registry.add('many', 'agent', 'step', pass, { name });
  const layers = registry.of('step');
  expect(layers.map((layer) => registry.isFirst('odd', layer))).toEqual([true, true]);
  expect(layers.map((layer) => registry.isFirst('odd', layer))).toEqual([false, false]);
  expect(layers.map((layer) => registry.isFirst('other', layer))).toEqual([true, true]);
});

describe('registration options', () => {
  test('P-05 have defaults: priority 0, onError fail, no deadline, a warning on a short-circuit, no buffering', () => {
    const registry = new LayerRegistry();
    registry.add('guard', 'swarm', 'toolCall', pass);
    expect(registry.of('toolCall')).toEqual([
      {
        kind: 'toolCall',
        extension: 'guard',
        name: 'pass',
        tier: 'swarm',
        priority: 0,
        run: expect.any(Function),
        mayShortCircuit: false,
        timeoutMs: undefined,
        onError: 'fail',
        buffers: false,
      },
    ]);
  });

  test('a layer is named by its name option, else its function’s name, else its kind', () => {
    const registry = new LayerRegistry();
    registry.add('guard', 'agent', 'step', pass, { name: 'given' });
    registry.add('guard', 'agent', 'step', pass);
    // A function that is not assigned to a variable has no name.
    registry.add('guard', 'agent', 'step', (() => pass)());
    registry.add('guard', 'agent', 'step', ...[(ctx: { next(): unknown }) => ctx.next()]);
    expect(registry.of('step').map(({ name }) => name)).toEqual(['given', 'pass', 'pass', 'step']);
  });

  test.each<[string, unknown]>([
    ['priority', { priority: Number.NaN }],
    ['priority', { priority: Infinity }],
    ['priority', { priority: '5' }],
    ['name', { name: '' }],
    ['name', { name: 7 }],
    ['mayShortCircuit', { mayShortCircuit: 'yes' }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['timeoutMs', { timeoutMs: -1 }],
    ['timeoutMs', { timeoutMs: Number.NaN }],
    ['timeoutMs', { timeoutMs: '10' }],
    ['onError', { onError: 'ignore' }],
    ['buffers', { buffers: 1 }],
    ['budgets', { budgets: [] }],
    ['options', null],
    ['options', 'outer'],
  ])('a wrong %s is a coded error that names it and the extension', (named, options) => {
    const error = refusal('step', pass, options);
    expect(error).toMatchObject({ code: 'E_PIPELINE_OPTIONS' });
    expect(String(error)).toContain(named);
    expect(String(error)).toContain('"guard"');
  });

  test.each([
    [{ prioritiy: 5 }, 'the nearest field is "priority"'],
    [{ before: 'x' }, 'its fields are priority, name, mayShortCircuit, timeoutMs, onError, buffers, budgets'],
  ])('the error of an unknown option names the nearest option, or all: %j', (options, help) => {
    const [option] = Object.keys(options);
    expect(refusal('step', pass, options)).toMatchObject({
      code: 'E_PIPELINE_OPTIONS',
      message: `Extension "guard", step middleware: "${option}" is not a field of the options object; ${help}.`,
    });
  });
});
