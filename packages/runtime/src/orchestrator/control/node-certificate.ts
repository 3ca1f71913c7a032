/** The certificate of a node's control port: from two files, or made at the start of the node. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { GoondanError } from '@goondan/types';
import { fingerprintOf } from '../../control/certificate-fingerprint.ts';
import { messageOf } from '../../ipc/check/frame-error.ts';
import { makeCertificate, type NodeCertificate } from './make-certificate.ts';

/** The files of `--tls-cert` and `--tls-key`. */
export interface CertificateFiles {
  readonly certificatePath: string;
  readonly keyPath: string;
}

const OTHERS = 0o077;

/**
 * Reads the files, or makes a certificate if there are none, and returns it with its fingerprint. **Errors** —
 * `E_CLUSTER_CERTIFICATE` when a file cannot be read, is not PEM, does not belong to the other one, has expired, or when
 * other users may read the key.
 */
export function openCertificate(
  node: string,
  now: Date,
  files?: CertificateFiles,
): NodeCertificate & { readonly fingerprint: string } {
  const opened = files === undefined ? makeCertificate(node, now) : readCertificate(files, now);
  return { ...opened, fingerprint: fingerprintOf(new X509Certificate(opened.certificate).raw) };
}

function readCertificate({ certificatePath, keyPath }: CertificateFiles, now: Date): NodeCertificate {
  const certificate = read(certificatePath, 'certificate');
  const key = read(keyPath, 'private key');
  // The mode is checked after the file was found, so that a missing file gets its own error.
  const mode = statSync(keyPath).mode & 0o777;
  if ((mode & OTHERS) !== 0) {
    const suggestion = `Run \`chmod 600 ${keyPath}\`.`;
    throw refusal(`Other users may read the private key ${keyPath} (mode ${mode.toString(8)}).`, { suggestion });
  }
  const parsed = parse(`${certificatePath} is not a certificate in PEM`, () => new X509Certificate(certificate));
  const parsedKey = parse(`${keyPath} is not a private key in PEM without a password`, () => createPrivateKey(key));
  if (!parsed.checkPrivateKey(parsedKey)) {
    throw refusal(`The private key ${keyPath} does not belong to the certificate ${certificatePath}.`);
  }
  if (new Date(parsed.validTo) < now) throw refusal(`The certificate ${certificatePath} expired at ${parsed.validTo}.`);
  return { certificate, key };
}

function read(path: string, what: string): string {
  return parse(`The ${what} ${path} cannot be read`, () => readFileSync(path, 'utf8'));
}

function parse<Value>(problem: string, action: () => Value): Value {
  try {
    return action();
  } catch (error) {
    throw refusal(`${problem}: ${messageOf(error)}`, { cause: error });
  }
}

function refusal(message: string, options: { suggestion?: string; cause?: unknown } = {}): GoondanError {
  return new GoondanError('E_CLUSTER_CERTIFICATE', message, options);
}
