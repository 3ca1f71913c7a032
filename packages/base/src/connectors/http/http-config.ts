/** The config of `http`, as defined by its schema in connectors.yaml. */
import type { ListenConfig } from '../../web/listen-config.ts';

export interface HttpConfig extends ListenConfig {
  readonly path?: string;
  /** `answer` waits for the end of the turn; `accept` responds as soon as the message is on disk. */
  readonly mode?: 'answer' | 'accept';
  readonly timeoutSeconds?: number;
  readonly cancelOnDisconnect?: boolean;
}
