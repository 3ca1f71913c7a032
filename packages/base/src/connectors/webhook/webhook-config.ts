/** The config of `webhook`, as defined by its schema in connectors.yaml. */
import type { ListenConfig } from '../../web/listen-config.ts';

export interface WebhookConfig extends ListenConfig {
  readonly path?: string;
  readonly signature?: 'github' | HmacSignature;
  /** The header or the field of the body with the delivery's id. */
  readonly id?: { readonly header: string } | { readonly body: string };
  /** The header with the kind of event. */
  readonly eventHeader?: string;
  /** Properties for the rules: name → path of the value, such as `body.repository.full_name`. */
  readonly properties?: Readonly<Record<string, string>>;
  /** The text for the agent, with `{{body.…}}`, `{{event}}` and `{{id}}`; the delivery as JSON when absent. */
  readonly input?: string;
  readonly inputLimit?: number;
  readonly allowReplays?: boolean;
}

export interface HmacSignature {
  readonly header: string;
  readonly algorithm?: 'sha256' | 'sha512';
  readonly encoding?: 'hex' | 'base64';
  readonly prefix?: string;
  /** The signed text: `{body}`, with `{timestamp}` and `{id}` around it. */
  readonly signed?: string;
  readonly timestamp?: {
    readonly header: string;
    readonly toleranceSeconds?: number;
    readonly unit?: 'seconds' | 'milliseconds';
  };
}
