import { childEnvironment, type Environment } from '../../process-tree/child-environment.ts';

/** Additional variables for servers, because servers use the network and start shells. */
const also: readonly string[] = ['SHELL', 'LANGUAGE', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];

export function serverEnvironment(
  own: Environment,
  declared: Readonly<Record<string, string>>,
): Record<string, string> {
  return childEnvironment(own, declared, also);
}
