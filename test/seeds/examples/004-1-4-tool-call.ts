// Cuts the command of bash__exec, and logs what came of calls.
import type { ExtensionApi } from '@goondan/types';

export function register(api: ExtensionApi) {
// verbatim from seed 004, 1.4
api.pipeline.register('toolCall', async (ctx) => {
  // Pre: validate or transform args
  if (ctx.toolName === 'bash__exec') {
    const cmd = ctx.args.command;
    if (typeof cmd === 'string' && cmd.length > 10000) {
      ctx.args = { ...ctx.args, command: cmd.slice(0, 10000) };
      api.logger.warn('bash command truncated to 10000 chars');
    }
  }

  const result = await ctx.next();

  // Post: log tool result
  api.logger.debug(`${ctx.toolName}: ${result.status}`);
  return result;
});
// end of verbatim
}
