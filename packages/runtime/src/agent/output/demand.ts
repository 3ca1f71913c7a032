/**
 * The demand of a running turn: its answer must fit a schema. The schema is the event's own, or else that of the agent's
 * plan, and stays the same while the turn runs. A turn that is resumed with another plan gets the schema of that plan.
 */
import type { JsonSchema, OutputDemand } from '@goondan/types';
import { compileSchema, type SchemaCheck } from '../../json/json-schema.ts';
import { DEFAULT_RETRIES } from '../../json/read-demand.ts';
import { type Mask, maskJson } from '../../log/mask-secrets.ts';
import type { RegisteredTool } from '../tool/tool-registry.ts';
import { finishTool } from './finish-tool.ts';

export interface Demand {
  readonly schema: JsonSchema;
  /** How many wrong answers go back to the model. */
  readonly retries: number;
  readonly check: SchemaCheck;
  /** The tool with which a model without a schema mode gives the answer. */
  readonly finish: RegisteredTool;
}

/**
 * Opens the demand of the event, or else that of the agent. An event that says nothing about retries has those of the
 * agent. Models get the schema, so secrets in it are masked.
 */
export async function openDemand(
  ofEvent: OutputDemand | undefined,
  ofAgent: OutputDemand | undefined,
  mask: Mask,
): Promise<Demand | undefined> {
  const output = ofEvent ?? ofAgent;
  if (output === undefined) return undefined;
  const retries = output.retries ?? ofAgent?.retries ?? DEFAULT_RETRIES;
  // Safe: masking an object returns an object, and the object itself if it has no secrets.
  const schema = maskJson(output.schema, mask) as JsonSchema;
  return { schema, retries, check: await compileSchema(schema, 'the answer'), finish: finishTool(schema) };
}
