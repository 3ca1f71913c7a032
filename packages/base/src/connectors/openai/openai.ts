/** `openai`: serves a swarm to every client of OpenAI's chat completions API. Each agent appears as a model. */
import type { Connector } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { bearerTokens, clientsOf } from '../../web/bearer-tokens.ts';
import { listen } from '../../web/listen.ts';
import type { BodyBounds } from '../../web/read-body.ts';
import { answerChat } from './answer-chat.ts';
import { AskedTurns } from './asked-turns.ts';
import { Conversations } from './conversations.ts';
import { refuseAsOpenai } from './error-shape.ts';
import type { OpenaiConfig } from './openai-config.ts';
import { findAgent } from './read-chat.ts';

const openai: Connector<OpenaiConfig> = async (ctx) => {
  const { config, secrets, agents, folder, logger } = ctx;
  const checkCaller = bearerTokens(config, secrets);
  const conversations = new Conversations(folder, clientsOf(secrets));
  const turns = new AskedTurns(folder);
  const path = (config.path ?? '/v1').replace(/\/$/, '');
  const created = Math.floor(Date.now() / 1_000);
  const modelOf = (agent: string) => ({ id: agent, object: 'model', created, owned_by: 'goondan' });
  return listen(config, logger, answer, refuseAsOpenai);

  async function answer(request: Request, { pathname }: URL, bounds: BodyBounds): Promise<Response> {
    const caller = checkCaller(request);
    if (pathname === `${path}/chat/completions`) {
      checkMethod(request, 'POST');
      return answerChat(ctx, { conversations, turns }, request, caller, bounds);
    }
    if (pathname !== `${path}/models` && !pathname.startsWith(`${path}/models/`)) throw noPath(path);
    checkMethod(request, 'GET');
    if (pathname === `${path}/models`) return Response.json({ object: 'list', data: agents.map(modelOf) });
    return Response.json(modelOf(findAgent(readName(pathname.slice(`${path}/models/`.length)), agents)));
  }
};

export default openai;

function checkMethod({ method }: Request, wanted: string): void {
  if (method === wanted) return;
  throw new Refusal(405, 'E_HTTP_METHOD', `This path supports ${wanted}, not ${method}.`, { Allow: wanted });
}

function noPath(path: string): Refusal {
  return new Refusal(404, 'E_HTTP_PATH', `The paths are ${path}/chat/completions and ${path}/models.`);
}

function readName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
