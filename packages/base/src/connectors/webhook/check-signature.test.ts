import { describe, expect, test } from 'bun:test';
import { checkSignature } from './check-signature.ts';
import { deliveryScheme, type SignatureScheme } from './signature-scheme.ts';
import type { WebhookConfig } from './webhook-config.ts';

const schemeOf = (config: Partial<WebhookConfig>): SignatureScheme => {
  const { signature } = deliveryScheme({ port: 0, ...config });
  if (signature === undefined) throw new Error('It has no signature.');
  return signature;
};
const bytes = (text: string) => new TextEncoder().encode(text);

describe('the published examples of signatures', () => {
  test('GitHub', () => {
    const headers = new Headers({
      'X-Hub-Signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    });
    const delivery = { headers, body: bytes('Hello, World!'), id: '', now: 0 };
    const scheme = schemeOf({ signature: 'github' });
    expect(checkSignature(scheme, ["It's a Secret to Everybody"], delivery)).toStartWith('sha256=757107');
    expect(() => checkSignature(scheme, ["It's no Secret to Everybody"], delivery)).toThrow('does not match');
  });

  test('Slack', () => {
    const headers = new Headers({
      'X-Slack-Request-Timestamp': '1531420618',
      'X-Slack-Signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    });
    const body = bytes(
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    );
    const scheme = schemeOf({
      signature: {
        header: 'X-Slack-Signature',
        prefix: 'v0=',
        signed: 'v0:{timestamp}:{body}',
        timestamp: { header: 'X-Slack-Request-Timestamp' },
      },
    });
    const secret = '8f742231b10e8888abcd99yyyzzz85a5';
    const at = (now: number) => checkSignature(scheme, ['another', secret], { headers, body, id: '', now });
    expect(at(1_531_420_618_000)).toStartWith('v0=a2114d');
    expect(at(1_531_420_618_000 + 300_000)).toStartWith('v0=');
    expect(at(1_531_420_618_000 - 300_000)).toStartWith('v0=');
    expect(() => at(1_531_420_618_000 + 300_001)).toThrow('not within 300 seconds of now');
    expect(() => at(1_531_420_618_000 - 300_001)).toThrow('not within 300 seconds of now');
  });
});

describe('a connection is rejected', () => {
  const header = 'x-signature';
  test.each<[problem: string, config: Partial<WebhookConfig>]>([
    ['`signature` is missing', {}],
    ['`insecure: true` and `signature` exclude each other', { insecure: true, signature: 'github' }],
    ['could send it again for ever', { signature: { header } }],
    ['could send it again for ever', { signature: { header }, id: { header: 'x-id' } }],
    ['must contain `{body}` exactly once', { signature: { header, signed: '{id}' }, allowReplays: true }],
    ['must contain `{body}` exactly once', { signature: { header, signed: '{body}{body}' }, allowReplays: true }],
    ['need each other', { signature: { header, signed: '{timestamp}{body}' }, allowReplays: true }],
    ['need each other', { signature: { header, signed: '{body}', timestamp: { header: 'x-time' } } }],
  ])('%s: %j', (problem, config) => {
    expect(() => deliveryScheme({ port: 0, ...config })).toThrow(
      expect.objectContaining({ code: 'E_CONNECTOR_CONFIG', message: expect.stringContaining(problem) }),
    );
  });

  test.each<[config: Partial<WebhookConfig>, hasLooseId: boolean]>([
    [{ signature: 'github' }, true],
    [{ signature: { header }, id: { body: 'body.id' } }, false],
    [{ signature: { header, signed: '{id}.{body}' }, id: { header: 'x-id' } }, false],
    [{ signature: { header, timestamp: { header: 'x-time' } }, id: { header: 'x-id' } }, true],
    [{ signature: { header, timestamp: { header: 'x-time' } } }, false],
    [{ signature: { header }, allowReplays: true }, false],
    [{ insecure: true }, false],
  ])('but not %j', (config, hasLooseId) => {
    expect(deliveryScheme({ port: 0, ...config }).hasLooseId).toBe(hasLooseId);
  });
});
