/** `Tool/clock` tells the time. */
import type { JsonObject, ToolContext, ToolHandler } from '@goondan/types';

export const handlers: Record<string, ToolHandler> = { now };

function now(_ctx: ToolContext, input: JsonObject): JsonObject {
  // The runtime has checked the arguments against the schema in goondan.yaml.
  const { zone } = input as { zone: string };
  // An unknown zone throws an error. The model reads the error message and can try another zone.
  const time = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone: zone });
  return { zone, text: `In ${zone} it is ${time.format(new Date())}.` };
}
