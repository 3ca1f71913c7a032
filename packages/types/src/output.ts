/** Answers that must fit a JSON Schema. */
import type { StandardParameters } from './define-tool.ts';
import type { JsonSchema, JsonValue } from './json.ts';

/** The demand for an answer that fits a JSON Schema, as an event carries it and as an Agent resource declares it. */
export interface OutputDemand {
  /** The JSON Schema of the answer. At most 65,536 characters, with the keywords of draft 7. */
  readonly schema: JsonSchema;
  /** How often the model may correct a wrong answer; when absent, as often as the agent's own `output` says, or 2 times. At most 10. */
  readonly retries?: number;
}

/**
 * The same demand in a program. The schema may also be a Standard Schema that provides a JSON Schema (zod 4.2 or later,
 * ArkType, Valibot with its converter); the type of the answer then follows from the schema.
 */
export interface TypedDemand<Output = JsonValue> extends Omit<OutputDemand, 'schema'> {
  readonly schema: StandardParameters<Output> | JsonSchema;
}
