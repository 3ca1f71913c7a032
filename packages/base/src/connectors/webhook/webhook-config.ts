/** The config of `webhook`, as defined by its schema in connectors.yaml. */
import type { ListenConfig } from '../../web/listen-config.ts';

export interface WebhookConfig extends ListenConfig {
  readonly path?: string;
  readonly signature?: 'github' | HmacSignature;
  /** The header or the body field that contains the delivery's id. */
  readonly id?: { readonly header: string } | { readonly body: string };
  /** The header that contains the kind of event. */
  readonly eventHeader?: string;
  /**
   * The event's properties, for the Connection's rules: name → path of the value, such as `body.repository.full_name`.
   */
  readonly properties?: Readonly<Record<string, string>>;
  /**
   * The text for the agent, which may contain `{{body.…}}`, `{{event}}` and `{{id}}`; the delivery as JSON when absent.
   */
  readonly input?: string;
  readonly inputLimit?: number;
  readonly allowReplays?: boolean;
}

export interface HmacSignature {
  readonly header: string;
  readonly algorithm?: 'sha256' | 'sha512';
  readonly encoding?: 'hex' | 'base64';
  readonly prefix?: string;
  /** The template of the signed text: it contains `{body}`, and may contain `{timestamp}` and `{id}`. */
  readonly signed?: string;
  readonly timestamp?: {
    readonly header: string;
    readonly toleranceSeconds?: number;
    readonly unit?: 'seconds' | 'milliseconds';
  };
}
