/** The rows of an instance that is imported, with the names of their columns. */
import { createHash } from 'node:crypto';

export interface ImportedRows {
  readonly instance: {
    readonly last_input: number;
    readonly handled: number;
    readonly pending_bytes: number;
    readonly last_seq: number;
    readonly created_at: string | null;
    readonly updated_at: string | null;
    readonly version: number;
    readonly messages: number;
    readonly letters: number;
    readonly checkpoint: string | null;
    readonly checkpoint_seq: number;
    readonly history_start: string | null;
  };
  readonly frames: readonly LinesRow[];
  readonly base: readonly { readonly part: number; readonly lines: string }[];
  readonly inbox: readonly InboxRow[];
  readonly answers: readonly { readonly event_id: string; readonly seq: number; readonly reply: string }[];
}

export interface LinesRow {
  readonly seq: number;
  readonly last: number;
  readonly lines: string;
}

export interface InboxRow {
  readonly seq: number;
  readonly event_id: string;
  readonly event: string | null;
  readonly cancelled: string | null;
  readonly began: boolean;
  readonly pending: boolean;
  readonly caller_agent: string | null;
  readonly caller_key: string | null;
}

/** The digest that PostgreSQL's `md5` makes. It compares contents, and protects nothing. */
export function digestOf(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
