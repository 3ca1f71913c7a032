/** `Tool/picnic` books a picnic. It returns a sentence where a real tool would call a booking service. */
import type { JsonObject, ToolContext, ToolHandler } from '@goondan/types';

export const handlers: Record<string, ToolHandler> = { book };

function book(_ctx: ToolContext, input: JsonObject): JsonObject {
  // The runtime has checked the arguments against the schema of the declaration.
  const { city } = input as { city: string };
  return { city, confirmation: `A picnic in ${city} is booked. Bring friends.` };
}
