/**
 * `webhook`: turns signed deliveries of other services into events.
 *
 * Invariants:
 * 1. Nothing of a delivery is parsed or emitted before its signature is checked.
 * 2. The sender gets 202 only when the event is on disk.
 * 3. A repeated delivery gives the same event, at whatever node it arrives, also with another id that is not signed.
 */
import { type Connector, GoondanError } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { checkExposure } from '../../web/listen-config.ts';
import { listen } from '../../web/listen.ts';
import { type BodyBounds, readBody } from '../../web/read-body.ts';
import { checkSignature } from './check-signature.ts';
import { headerId, readDelivery } from './read-delivery.ts';
import { deliveryScheme } from './signature-scheme.ts';
import type { WebhookConfig } from './webhook-config.ts';

const SHORTEST_SECRET = 16;

const webhook: Connector<WebhookConfig> = async (ctx) => {
  const secrets = readSecrets(ctx.secrets);
  checkExposure(ctx.config, secrets.length, 'secret');
  const scheme = deliveryScheme(ctx.config);
  return listen(ctx.config, ctx.logger, receive);

  async function receive(request: Request, url: URL, bounds: BodyBounds): Promise<Response> {
    const { config, emit } = ctx;
    const { path = '/' } = config;
    if (url.pathname !== path) throw new Refusal(404, 'E_HTTP_PATH', 'There is nothing here.');
    if (request.method !== 'POST') {
      throw new Refusal(405, 'E_HTTP_METHOD', `${path} takes POST, not ${request.method}.`, { Allow: 'POST' });
    }
    const body = await readBody(request, bounds);
    const id = headerId(request, scheme);
    const signature =
      scheme.signature &&
      checkSignature(scheme.signature, secrets, { headers: request.headers, body, id, now: Date.now() });
    const event = readDelivery(request, body, { scheme, config, signature });
    try {
      await emit(event);
    } catch (error) {
      // The delivery is valid, but no rule matches. The sender has nothing to fix and must not retry, so this is not an
      // error.
      if (!GoondanError.is(error) || error.code !== 'E_INGRESS_RULE') throw error;
      return Response.json({ accepted: false, reason: 'no rule fits it' });
    }
    return Response.json({ accepted: true }, { status: 202 });
  }
};

export default webhook;

/**
 * Returns `secret` and every `secret-<name>`; several secrets are valid while one is being replaced. Throws
 * `E_CONNECTOR_CONFIG`.
 */
function readSecrets(secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets).map(([name, secret]) => {
    if (!/^secret(?:-.+)?$/.test(name)) {
      throw new GoondanError('E_CONNECTOR_CONFIG', `Unknown secret "${name}": use "secret" or "secret-<name>".`);
    }
    if (secret.length >= SHORTEST_SECRET) return secret;
    throw new GoondanError(
      'E_CONNECTOR_CONFIG',
      `The secret "${name}" must have at least ${SHORTEST_SECRET} characters.`,
      {
        suggestion: 'Generate one with `openssl rand -hex 32`.',
      },
    );
  });
}
