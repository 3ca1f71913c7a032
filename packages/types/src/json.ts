/** The JSON types. Everything that is stored or sent is JSON. */
export type JsonPrimitive = string | number | boolean | null;
export type JsonArray = JsonValue[];
export interface JsonObject {
  [key: string]: JsonValue;
}
export type JsonValue = JsonPrimitive | JsonArray | JsonObject;

/** A JSON Schema, as tools and extensions declare it in a bundle. */
export type JsonSchema = JsonObject;
