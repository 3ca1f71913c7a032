/** `http`: accepts JSON requests, and returns an agent's response as JSON or as a stream of server-sent events. */
import type { Connector } from '@goondan/types';
import { bearerTokens } from '../../web/bearer-tokens.ts';
import { listen } from '../../web/listen.ts';
import { refuseWith } from '../../web/refuse.ts';
import { adviceOn } from './answer-questions.ts';
import { answerRequest } from './answer-request.ts';
import type { HttpConfig } from './http-config.ts';

const http: Connector<HttpConfig> = async (ctx) => {
  const checkCaller = bearerTokens(ctx.config, ctx.secrets);
  const advice = adviceOn(ctx.config.path);
  return listen(
    ctx.config,
    ctx.logger,
    (...asked) => answerRequest(ctx, checkCaller, ...asked),
    (error) => refuseWith(error, advice),
  );
};

export default http;
