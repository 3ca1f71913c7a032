/**
 * Makes a self-signed certificate (X.509 version 3) with a new key. `node:crypto` has the key and the signature, but
 * cannot make a certificate, so this file writes the few DER structures itself.
 *
 * Nobody checks the names or the dates of this certificate: clients know its fingerprint from the store.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** Two texts in PEM. `certificate` may go on with the certificates of its issuers. */
export interface NodeCertificate {
  readonly certificate: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
const YEARS_10 = 3_650 * DAY_MS;

/** Makes a certificate that is valid from yesterday, because clocks differ. Its private key is only in memory. */
export function makeCertificate(commonName: string, now: Date): NodeCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(objectId(COMMON_NAME), der(0x0c, Buffer.from(commonName.slice(0, 64))))));
  const signed = sequence(
    // Version 3.
    der(0xa0, integer(Buffer.from([2]))),
    // A positive number that needs no padding.
    integer(Buffer.concat([Buffer.from([0x40]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    name,
    sequence(time(now.getTime() - DAY_MS), time(now.getTime() + YEARS_10)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = sign('sha256', signed, privateKey);
  const certificate = sequence(signed, ECDSA_WITH_SHA256, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  return {
    certificate: toPem('CERTIFICATE', certificate),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
}

/** 2.5.4.3 */
const COMMON_NAME = [0x55, 0x04, 0x03];
/** 1.2.840.10045.4.3.2 */
const ECDSA_WITH_SHA256 = sequence(objectId([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function set(...parts: readonly Buffer[]): Buffer {
  return der(0x31, Buffer.concat(parts));
}

function integer(bytes: Buffer): Buffer {
  return der(0x02, bytes);
}

function objectId(bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

/** Writes a moment with two digits for the year before 2050, and with four digits from then on, as RFC 5280 wants. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return digits < '2050' ? der(0x17, Buffer.from(`${digits.slice(2)}Z`)) : der(0x18, Buffer.from(`${digits}Z`));
}

/** Writes tag, length and contents. */
function der(tag: number, contents: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, ...lengthOf(contents.length)]), contents]);
}

function lengthOf(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const bytes = length < 0x100 ? [length] : [length >> 8, length & 0xff];
  return [0x80 | bytes.length, ...bytes];
}

function toPem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replaceAll(/(.{64})/g, '$1\n');
  return `-----BEGIN ${label}-----\n${lines.trimEnd()}\n-----END ${label}-----\n`;
}
