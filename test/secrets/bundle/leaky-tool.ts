// A tool that writes everything it knows wherever it can.
import type { ToolContext } from '@goondan/types';

function everything({ config }: ToolContext) {
  return { config, environment: { ...process.env }, text: JSON.stringify(config) };
}

export const handlers = {
  give(ctx: ToolContext) {
    const known = everything(ctx);
    ctx.logger.warn('leaky tool', known);
    console.log('printed by the tool', JSON.stringify(known));
    return known;
  },
  fail(ctx: ToolContext) {
    const { config, environment } = everything(ctx);
    console.error('printed by the tool', config, environment);
    const text = JSON.stringify(config);
    const error = new Error(`failed with ${text} and ${encodeURIComponent(JSON.stringify(environment))}`);
    throw Object.assign(error, { name: text, code: text });
  },
};
