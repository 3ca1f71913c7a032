import { expect, test } from 'bun:test';
import { finishTool } from './finish-tool.ts';

test('Y-01 a schema that is not an object keeps its references, and its data is not changed', () => {
  const data = { $ref: '#/definitions/word' };
  const schema = {
    type: 'array',
    items: { anyOf: [{ $ref: '#/definitions/word' }, { enum: [data] }, { const: data }] },
    definitions: { word: { type: 'string', default: data, examples: [data] } },
  };
  const moved = { $ref: '#/properties/value/definitions/word' };
  expect(finishTool(schema).item.parameters).toEqual({
    type: 'object',
    properties: { value: { ...schema, items: { anyOf: [moved, { enum: [data] }, { const: data }] } } },
    required: ['value'],
    additionalProperties: false,
  });
});
