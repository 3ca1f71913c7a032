/** The config of `openai`, as defined by its schema in connectors.yaml. */
import type { ListenConfig } from '../../web/listen-config.ts';

export interface OpenaiConfig extends ListenConfig {
  readonly path?: string;
  /** The request header that carries the client's own conversation id. */
  readonly conversationHeader?: string;
  /** `ignore` drops the client's system messages; `context` adds them before the first message. */
  readonly systemMessages?: 'ignore' | 'context';
  /** The maximum number of characters of an earlier conversation that a new instance gets. */
  readonly contextLimit?: number;
  readonly timeoutSeconds?: number;
  readonly cancelOnDisconnect?: boolean;
}
