// Cuts the command of bash__exec to 10000 characters.
import type { ExtensionApi } from '@goondan/types';

export function register(api: ExtensionApi) {
// verbatim from seed 000, 9.4
api.pipeline.register('toolCall', async (ctx) => {
  // bash 도구의 command 인자 길이 제한
  if (ctx.toolName === 'bash__exec') {
    const command = ctx.args.command;
    if (typeof command === 'string' && command.length > 10000) {
      ctx.args = {
        ...ctx.args,
        command: command.slice(0, 10000),
      };
      api.logger.warn('bash command truncated to 10000 chars');
    }
  }

  return ctx.next();
});
// end of verbatim
}
