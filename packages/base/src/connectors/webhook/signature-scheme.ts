/**
 * Describes how deliveries are signed and identified. The scheme is made from the config: GitHub's scheme is filled in,
 * and incomplete settings are rejected.
 */
import { GoondanError } from '@goondan/types';
import type { HmacSignature, WebhookConfig } from './webhook-config.ts';

export interface SignatureScheme extends Required<Omit<HmacSignature, 'timestamp'>> {
  readonly kind: 'github' | 'hmac';
  readonly timestamp?: Required<NonNullable<HmacSignature['timestamp']>>;
}

export interface DeliveryScheme {
  /** The scheme of the signatures. Absent when signatures are not checked. */
  readonly signature?: SignatureScheme;
  readonly id?: WebhookConfig['id'];
  readonly eventHeader?: string;
  readonly properties: Readonly<Record<string, string>>;
  /** True when the signature does not cover the id header. Anyone with a copy of a delivery could then change its id. */
  readonly hasLooseId: boolean;
}

const TOLERANCE_SECONDS = 300;

const github: Pick<Required<WebhookConfig>, 'id' | 'eventHeader' | 'properties'> & { signature: SignatureScheme } = {
  signature: {
    kind: 'github',
    header: 'x-hub-signature-256',
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: 'sha256=',
    signed: '{body}',
  },
  id: { header: 'x-github-delivery' },
  eventHeader: 'x-github-event',
  properties: { action: 'body.action', repository: 'body.repository.full_name', sender: 'body.sender.login' },
};

/** Makes the scheme from the config. Throws `E_CONNECTOR_CONFIG` for incomplete settings. */
export function deliveryScheme(config: WebhookConfig): DeliveryScheme {
  const { signature, insecure = false, id, eventHeader, properties = {}, allowReplays = false } = config;
  if (insecure && signature !== undefined) throw refuse('`insecure: true` and `signature` exclude each other.');
  if (signature === 'github') {
    const own = { eventHeader: eventHeader ?? github.eventHeader, properties: { ...github.properties, ...properties } };
    return { ...github, ...own, id: id ?? github.id, hasLooseId: isLoose(github.signature, id ?? github.id) };
  }
  const common = { ...(id && { id }), ...(eventHeader !== undefined && { eventHeader }), properties };
  if (insecure) return { ...common, hasLooseId: false };
  if (signature === undefined) throw refuse('`signature` is missing: describe how deliveries are signed.');
  const scheme = hmacScheme(signature);
  const hasLooseId = isLoose(scheme, id);
  if (scheme.timestamp === undefined && (id === undefined || hasLooseId) && !allowReplays) {
    throw refuse(
      'Anyone with a copy of a delivery could send it again for ever: describe `signature.timestamp`, take `id` from the body or sign it, or set `allowReplays: true`.',
    );
  }
  return { ...common, signature: scheme, hasLooseId };
}

function hmacScheme({ header, timestamp, ...given }: HmacSignature): SignatureScheme {
  const signed = given.signed ?? (timestamp === undefined ? '{body}' : '{timestamp}.{body}');
  if (signed.split('{body}').length !== 2) throw refuse('`signature.signed` must contain `{body}` exactly once.');
  if (signed.includes('{timestamp}') !== (timestamp !== undefined)) {
    throw refuse(
      '`signature.timestamp` and `{timestamp}` in `signature.signed` need each other: a time that is not signed proves nothing.',
    );
  }
  return {
    kind: 'hmac',
    header: header.toLowerCase(),
    algorithm: given.algorithm ?? 'sha256',
    encoding: given.encoding ?? 'hex',
    prefix: given.prefix ?? '',
    signed,
    ...(timestamp && {
      timestamp: {
        toleranceSeconds: TOLERANCE_SECONDS,
        unit: 'seconds',
        ...timestamp,
        header: timestamp.header.toLowerCase(),
      },
    }),
  };
}

function isLoose({ signed }: SignatureScheme, id: WebhookConfig['id']): boolean {
  return id !== undefined && 'header' in id && !signed.includes('{id}');
}

function refuse(message: string): GoondanError {
  return new GoondanError('E_CONNECTOR_CONFIG', message);
}
