/** `Tool/clock`: what time it is. */
import type { JsonObject, ToolContext, ToolHandler } from '@goondan/types';

export const handlers: Record<string, ToolHandler> = { now };

function now(_ctx: ToolContext, input: JsonObject): JsonObject {
  // The arguments were checked against the schema in goondan.yaml.
  const { zone } = input as { zone: string };
  // A zone that does not exist throws; the model reads the message and can try another.
  const time = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone: zone });
  return { zone, text: `In ${zone} it is ${time.format(new Date())}.` };
}
