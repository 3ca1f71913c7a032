import { GoondanError, type ToolCatalogItem } from '@goondan/types';
import { findUnknownField, knownFields } from '../../config/find-unknown-field.ts';

const itemFields = knownFields<ToolCatalogItem>(
  'a tool',
  { name: true, description: true, parameters: true, annotations: true },
  { inputSchema: 'parameters', input_schema: 'parameters', schema: 'parameters', input: 'parameters' },
);

/** Returns the error for a tool with an unknown field, such as a schema under another name: `E_TOOL_SCHEMA`. */
export function problemWithItemFields(item: object, toolName: unknown): GoondanError | undefined {
  const unknown = findUnknownField(item, itemFields);
  if (unknown === undefined) return undefined;
  const suggestion = 'Rename or remove the field.';
  const which = typeof toolName === 'string' ? `Tool "${toolName}"` : 'A tool without a name';
  return new GoondanError('E_TOOL_SCHEMA', `${which}: ${unknown}.`, { suggestion });
}
