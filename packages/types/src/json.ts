/** The types of JSON. All stored and sent data is JSON. */
export type JsonPrimitive = string | number | boolean | null;
export type JsonArray = JsonValue[];
export interface JsonObject {
  [key: string]: JsonValue;
}
export type JsonValue = JsonPrimitive | JsonArray | JsonObject;

/** A JSON Schema, as tools and extensions declare it. */
export type JsonSchema = JsonObject;
