/** `http`: accepts JSON requests, and returns an agent's response as JSON or as a stream of server-sent events. */
import type { Connector } from '@goondan/types';
import { bearerTokens } from '../../web/bearer-tokens.ts';
import { listen } from '../../web/listen.ts';
import { answerRequest } from './answer-request.ts';
import type { HttpConfig } from './http-config.ts';

const http: Connector<HttpConfig> = async (ctx) => {
  const checkCaller = bearerTokens(ctx.config, ctx.secrets);
  return listen(ctx.config, ctx.logger, (...asked) => answerRequest(ctx, checkCaller, ...asked));
};

export default http;
