/** Adds two layers around tool calls: one limits numbers on the way in, one removes private fields on the way out. */
import type { ExtensionRegister, JsonObject, JsonValue } from '@goondan/types';

/** The config, already checked against `configSchema` in goondan.yaml. */
interface Config {
  /** The highest allowed value of each argument, for each tool. */
  limits: Record<string, Record<string, number>>;
  /** Fields of a result to hide from the model. */
  hidden: string[];
}

export const register: ExtensionRegister<Config> = (api, { limits, hidden }) => {
  api.pipeline.register(
    'toolCall',
    (ctx) => {
      ctx.args = limitNumbers(ctx.args, limits[ctx.toolName] ?? {});
      return ctx.next();
    },
    { name: 'limit numbers' },
  );

  api.pipeline.register(
    'toolCall',
    async (ctx) => {
      const result = await ctx.next();
      return result.output === undefined ? result : { ...result, output: withoutFields(result.output, hidden) };
    },
    { name: 'hide fields' },
  );
};

/**
 * Models write numbers as text, omit them, or ask for too much. This function gives the tool a number between 1 and the
 * limit.
 */
function limitNumbers(args: JsonObject, limits: Record<string, number>): JsonObject {
  const limited = Object.entries(limits).map(([name, most]): [string, number] => {
    const asked = Math.trunc(Number(args[name] ?? 1));
    return [name, Math.min(Math.max(asked || 1, 1), most)];
  });
  return { ...args, ...Object.fromEntries(limited) };
}

function withoutFields(output: JsonValue, fields: readonly string[]): JsonValue {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return output;
  return Object.fromEntries(Object.entries(output).filter(([name]) => !fields.includes(name)));
}
