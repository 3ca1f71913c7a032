import { describe, expect, test } from 'bun:test';
import type { JsonSchema, ToolCatalogItem, ToolHandler } from '@goondan/types';
import { type RegisteredTool, ToolRegistry } from './tool-registry.ts';

const handler: ToolHandler = () => null;
const item = (name: string, more: Partial<ToolCatalogItem> = {}): ToolCatalogItem => ({
  name,
  description: 'A tool.',
  ...more,
});
const declared = (name: string): Omit<RegisteredTool, 'extension' | 'number'> => ({
  item: item(name),
  handler,
  parallel: false,
  idempotent: false,
  effects: 'external',
  config: {},
  errorMessageLimit: undefined,
  isPatient: false,
  provider: {},
});

describe('the tools of an agent', () => {
  test('X-09 a registered tool comes last in the catalog', () => {
    const registry = new ToolRegistry();
    registry.declare(declared('weather__get'));
    registry.register('notes', item('notes__add', { parameters: { type: 'object' } }), handler);
    expect(registry.items()).toEqual([
      item('weather__get'),
      { name: 'notes__add', description: 'A tool.', parameters: { type: 'object' } },
    ]);
  });

  test('a registered tool with an unknown field is refused, with the nearest known field', () => {
    const registry = new ToolRegistry();
    const upstream = { ...item('notes__add'), inputSchema: { type: 'object' } };
    expect(() => registry.register('notes', upstream, handler)).toThrow(
      expect.objectContaining({
        code: 'E_TOOL_SCHEMA',
        message:
          'Extension "notes": Tool "notes__add": "inputSchema" is not a field of a tool; the nearest field is "parameters".',
      }),
    );
    expect(registry.items()).toEqual([]);
  });

  test('a tool whose name is mistyped or missing is refused with the field', () => {
    const registry = new ToolRegistry();
    const { name: _, ...nameless } = item('notes__add');
    expect(() => registry.register('notes', { nam: 'notes__add', ...nameless }, handler)).toThrow(
      'Extension "notes": A tool without a name: "nam" is not a field of a tool; the nearest field is "name".',
    );
    expect(() => registry.register('notes', nameless, handler)).toThrow(
      'Extension "notes": A tool has no name: its name must be {resource}__{export}',
    );
  });

  test('X-09 registering a name again replaces the tool and keeps its place', () => {
    const registry = new ToolRegistry();
    const newer: ToolHandler = () => 'newer';
    registry.register('notes', item('notes__add'), handler);
    registry.register('notes', item('notes__list'), handler);
    registry.register('other', item('notes__add', { description: 'Newer.' }), newer);
    expect(registry.items().map(({ name, description }) => [name, description])).toEqual([
      ['notes__add', 'Newer.'],
      ['notes__list', 'A tool.'],
    ]);
    expect(registry.get('notes__add')).toMatchObject({ handler: newer, extension: 'other' });
  });

  test('X-09 an extension cannot register the name of a declared tool', () => {
    const registry = new ToolRegistry();
    registry.declare(declared('weather__get'));
    expect(() => registry.register('thief', item('weather__get'), () => 'stolen')).toThrow(
      expect.objectContaining({
        code: 'E_TOOL_TAKEN',
        message: 'Extension "thief" cannot register "weather__get": a declared tool has that name.',
      }),
    );
    expect(registry.get('weather__get')?.handler).toBe(handler);
  });

  test('two declared tools cannot have the same name', () => {
    const registry = new ToolRegistry();
    registry.declare(declared('weather__get'));
    expect(() => registry.declare(declared('weather__get'))).toThrow(expect.objectContaining({ code: 'E_TOOL_TAKEN' }));
  });

  /** Registers a bad tool, and checks that it is refused with this code and leaves nothing behind. */
  function expectRefused(_title: string, badItem: unknown, badHandler: unknown, code: string): void {
    const registry = new ToolRegistry();
    const message = expect.stringMatching(/^Extension "notes": /) as string;
    expect(() => registry.register('notes', badItem, badHandler)).toThrow(
      expect.objectContaining({ code, message, extension: 'notes' }),
    );
    expect(registry.items()).toEqual([]);
  }

  test.each<[string, unknown, unknown, string]>([
    ['a bad name', item('weather'), handler, 'E_TOOL_NAME'],
    ['no name', { description: 'A tool.' }, handler, 'E_TOOL_NAME'],
  ])('X-09 P-12 a tool with %s is refused in the name of its extension, and leaves nothing behind', expectRefused);

  test.each<[string, unknown, unknown, string]>([
    ['no description', { name: 'weather__get' }, handler, 'E_TOOL_NAME'],
    ['no object at all', 'weather__get', handler, 'E_TOOL_NAME'],
    ['nothing at all', undefined, handler, 'E_TOOL_NAME'],
    ['no handler', item('weather__get'), undefined, 'E_TOOL_NAME'],
    ['parameters that are a text', { ...item('weather__get'), parameters: 'object' }, handler, 'E_TOOL_SCHEMA'],
    ['parameters that are a list', { ...item('weather__get'), parameters: [] }, handler, 'E_TOOL_SCHEMA'],
    ['parameters that are no JSON', { ...item('weather__get'), parameters: { a: new Map() } }, handler, 'E_TOOL_NAME'],
  ])('C-13 a tool with %s is refused and leaves nothing behind', expectRefused);

  test('C-13 the catalog shows name, description, parameters and annotations, without absent fields', () => {
    const registry = new ToolRegistry();
    registry.register('notes', item('notes__list', { annotations: { readOnly: true, title: 'Notes' } }), handler);
    const [first] = registry.items();
    expect(first).toEqual({
      name: 'notes__list',
      description: 'A tool.',
      annotations: { readOnly: true, title: 'Notes' },
    });
    expect(first).not.toHaveProperty('parameters');
  });

  test('the registered item is a frozen copy', () => {
    const registry = new ToolRegistry();
    const parameters = { type: 'object', properties: {} };
    registry.register('notes', item('notes__add', { parameters }), handler);
    parameters.type = 'string';
    const [first] = registry.items();
    expect(first).toEqual(item('notes__add', { parameters: { type: 'object', properties: {} } }));
    expect(first).toSatisfy(Object.isFrozen);
    expect(first?.parameters).toSatisfy(Object.isFrozen);
  });

  test.each([
    [{}, { parallel: false, idempotent: false, effects: 'external' }],
    [{ readOnly: true }, { parallel: true, idempotent: true, effects: 'none' }],
    [{ idempotent: true }, { parallel: false, idempotent: true, effects: 'external' }],
    [{ effects: 'local' }, { parallel: false, idempotent: false, effects: 'local' }],
  ] as const)('the annotations %j of an extension’s tool set how it runs: %j', (annotations, expected) => {
    const registry = new ToolRegistry();
    registry.register('notes', item('notes__add', { annotations }), handler);
    expect(registry.get('notes__add')).toMatchObject(expected);
  });

  test('a tool whose schema is too large is not offered, declared or registered; the other tools are', () => {
    const refused: unknown[] = [];
    const registry = new ToolRegistry(({ code, message }, extension) => refused.push([code, message, extension]));
    const many = (count: number, schema: JsonSchema) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, schema]));
    const parameters: JsonSchema = {
      $defs: { b: { properties: many(900, { type: 'string' }) } },
      properties: many(300, { $ref: '#/$defs/b' }),
    };
    registry.declare({ ...declared('weather__bomb'), item: item('weather__bomb', { parameters }) });
    registry.declare(declared('weather__get'));
    registry.register('notes', item('notes__bomb', { parameters }), handler);
    registry.register('notes', item('notes__add'), handler);
    expect(registry.items().map(({ name }) => name)).toEqual(['weather__get', 'notes__add']);
    registry.register('notes', item('notes__add', { parameters }), handler);
    expect(registry.items().map(({ name }) => name)).toEqual(['weather__get']);
    expect(refused).toEqual([
      ['E_SCHEMA_SIZE', expect.stringContaining('weather__bomb'), undefined],
      ['E_SCHEMA_SIZE', expect.stringContaining('notes__bomb'), 'notes'],
      ['E_SCHEMA_SIZE', expect.stringContaining('notes__add'), 'notes'],
    ]);
  });
});

describe('the registry of an agent', () => {
  let registrations = 0;
  const part = (extension: string, ...names: string[]) => {
    const registry = new ToolRegistry(undefined, undefined, () => (registrations += 1));
    for (const name of names) registry.register(extension, item(name, { description: extension }), handler);
    return registry;
  };
  const shownBy = (registry: ToolRegistry) => registry.items().map(({ name, description }) => [name, description]);

  test('shows the tools of its parts in order, and no others', () => {
    const agent = new ToolRegistry();
    const [a, b] = [part('a', 'a__x'), part('b', 'b__x')];
    agent.show([a, b]);
    const before = agent.items();
    expect(agent.items()).toBe(before);
    b.register('b', item('b__late'), handler);
    expect(agent.items().map(({ name }) => name)).toEqual(['a__x', 'b__x', 'b__late']);
    agent.show([b]);
    expect(agent.get('a__x')).toBeUndefined();
    const shown = agent.items();
    // A part that is not shown any more changes nothing.
    a.register('a', item('a__late'), handler);
    expect(agent.items()).toBe(shown);
  });

  test('X-09 of two tools with one name, shows the one that was registered later at the position of the first', () => {
    const agent = new ToolRegistry();
    const [b, a] = [part('b', 'x__y'), part('a', 'x__y', 'a__x')];
    agent.show([b, a]);
    const shown = (extension: string) => [
      ['x__y', extension],
      ['a__x', 'a'],
    ];
    expect(shownBy(agent)).toEqual(shown('a'));
    // The order of the parts does not matter.
    agent.show([a, b]);
    expect(shownBy(agent)).toEqual(shown('a'));
    b.register('b', item('x__y', { description: 'b' }), handler);
    expect(shownBy(agent)).toEqual(shown('b'));
    agent.show([a]);
    expect(shownBy(agent)).toEqual(shown('a'));
  });

  test('X-09 shows the declared one of two tools with one name, whatever their order', () => {
    const agent = new ToolRegistry();
    const plan = new ToolRegistry();
    plan.declare(declared('x__y'));
    for (const parts of [
      [plan, part('a', 'x__y')],
      [part('a', 'x__y'), plan],
    ]) {
      agent.show(parts);
      expect(shownBy(agent)).toEqual([['x__y', 'A tool.']]);
      expect(agent.isDeclaredTool('x__y')).toBe(true);
    }
  });
});
