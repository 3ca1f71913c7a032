import { childEnvironment, type Environment } from '../../process-tree/child-environment.ts';

/** Servers reach the outside and start shells: what they need for it, beside what every process gets. */
const also: readonly string[] = ['SHELL', 'LANGUAGE', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];

export function serverEnvironment(
  own: Environment,
  declared: Readonly<Record<string, string>>,
): Record<string, string> {
  return childEnvironment(own, declared, also);
}
