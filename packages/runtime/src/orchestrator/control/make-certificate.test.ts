import { describe, expect, test } from 'bun:test';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { makeCertificate } from './make-certificate.ts';

const now = new Date('2026-03-04T05:06:07Z');

describe('a certificate that a node makes', () => {
  test('is signed by its own key, and valid from the day before', () => {
    for (let n = 0; n < 50; n++) {
      const { certificate, key } = makeCertificate('node-1', now);
      const parsed = new X509Certificate(certificate);
      expect(parsed.verify(parsed.publicKey)).toBe(true);
      expect(parsed.checkPrivateKey(createPrivateKey(key))).toBe(true);
      expect(parsed.subject).toBe('CN=node-1');
      expect(parsed.issuer).toBe('CN=node-1');
      expect(new Date(parsed.validFrom)).toEqual(new Date('2026-03-03T05:06:07Z'));
      expect(new Date(parsed.validTo)).toEqual(new Date('2036-03-01T05:06:07Z'));
      expect(parsed.serialNumber).toMatch(/^4[0-9A-F]{31}$/);
    }
  });

  test('has another key and another fingerprint each time', () => {
    const made = [1, 2].map(() => new X509Certificate(makeCertificate('node-1', now).certificate).fingerprint256);
    expect(made[0]).not.toBe(made[1]);
  });

  test('may end after 2049, and have a name of 64 characters', () => {
    const late = new Date('2045-01-01T00:00:00Z');
    const parsed = new X509Certificate(makeCertificate('n'.repeat(70), late).certificate);
    expect(parsed.subject).toBe(`CN=${'n'.repeat(64)}`);
    expect(new Date(parsed.validTo).getUTCFullYear()).toBe(2054);
  });
});
