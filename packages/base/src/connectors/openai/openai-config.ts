/** The config of `openai`, as defined by its schema in connectors.yaml. */
import type { ListenConfig } from '../../web/listen-config.ts';

export interface OpenaiConfig extends ListenConfig {
  readonly path?: string;
  /** The header with the client's own id of a conversation. */
  readonly conversationHeader?: string;
  /** The client's system messages: ignored, or added before the first message. */
  readonly systemMessages?: 'ignore' | 'context';
  /** The most characters of an earlier conversation that a new instance gets. */
  readonly contextLimit?: number;
  readonly timeoutSeconds?: number;
  readonly cancelOnDisconnect?: boolean;
}
