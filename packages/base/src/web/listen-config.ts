/** The address that a connector listens on, and a check that only permitted clients can reach it. */
import { GoondanError } from '@goondan/types';

/** The config fields that every connector with a server has; already checked against the connector's schema. */
export interface ListenConfig {
  readonly port: number;
  /** The host to listen on; 127.0.0.1 when absent. */
  readonly host?: string;
  /** If true, clients need no secret. This is allowed only for servers that no other machine can reach. */
  readonly insecure?: boolean;
  /** The maximum number of requests answered at once, and of bodies received at once. */
  readonly maxConcurrent?: number;
  /** The maximum number of bytes of a request's body, where the connector takes files; 1 000 000 when absent. */
  readonly maxBodyBytes?: number;
}

const loopback = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/i;

export function isLoopback(host: string): boolean {
  return loopback.test(host);
}

/** Throws `E_CONNECTOR_CONFIG` for a server that would be open to everybody. */
export function checkExposure(
  { host = DEFAULT_HOST, insecure = false }: ListenConfig,
  secrets: number,
  name: string,
): void {
  if (!insecure && secrets === 0) {
    throw new GoondanError('E_CONNECTOR_CONFIG', `The secret "${name}" is missing.`, {
      suggestion: `Set \`secrets: { ${name}: { valueFrom: { env: NAME } } }\` in the Connection, or \`insecure: true\` in its config for a server that only this machine can reach.`,
    });
  }
  if (insecure && secrets > 0) {
    throw new GoondanError('E_CONNECTOR_CONFIG', `\`insecure: true\` and the secret "${name}" exclude each other.`);
  }
  if (insecure && !isLoopback(host)) {
    throw new GoondanError(
      'E_CONNECTOR_CONFIG',
      `\`insecure: true\` needs a host that only this machine can reach, not ${host}.`,
    );
  }
}

export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_CONCURRENT = 64;
