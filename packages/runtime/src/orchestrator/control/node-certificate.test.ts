import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from './make-certificate.ts';
import { openCertificate } from './node-certificate.ts';

const now = new Date('2026-03-04T05:06:07Z');
let folder: string;
let files: { certificatePath: string; keyPath: string };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  files = { certificatePath: join(folder, 'node.crt'), keyPath: join(folder, 'node.key') };
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(certificate: string, key: string, mode = 0o600): void {
  writeFileSync(files.certificatePath, certificate);
  writeFileSync(files.keyPath, key);
  chmodSync(files.keyPath, mode);
}

function refusalOf(at = now): string {
  try {
    openCertificate('node-1', at, files);
  } catch (error) {
    return String(error);
  }
  throw new Error('The certificate was accepted.');
}

describe('the certificate of a node', () => {
  test('comes from its two files, with the fingerprint of the certificate', () => {
    const { certificate, key } = makeCertificate('from a file', now);
    write(certificate, key);
    const opened = openCertificate('node-1', now, files);
    expect(opened).toMatchObject({ certificate, key });
    expect(opened.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(openCertificate('node-1', now).fingerprint).not.toBe(opened.fingerprint);
  });

  test('is refused when other users may read its key', () => {
    const { certificate, key } = makeCertificate('node-1', now);
    write(certificate, key, 0o640);
    expect(refusalOf()).toContain('Other users may read the private key');
  });

  test('is refused with the key of another one', () => {
    write(makeCertificate('node-1', now).certificate, makeCertificate('node-1', now).key);
    expect(refusalOf()).toContain('does not belong to the certificate');
  });

  test('is refused after its end', () => {
    const { certificate, key } = makeCertificate('node-1', now);
    write(certificate, key);
    expect(refusalOf(new Date('2037-01-01T00:00:00Z'))).toContain('expired');
  });

  test('is refused when a file is missing or is not PEM', () => {
    expect(refusalOf()).toContain('cannot be read');
    write('none', 'none');
    expect(refusalOf()).toContain('is not a certificate in PEM');
    write(makeCertificate('node-1', now).certificate, 'none');
    expect(refusalOf()).toContain('is not a private key');
  });
});
