export const question: string;

export interface Conversation {
  turn(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly steps: number;
  /** The number of messages that the conversation begins with. */
  readonly messages: number;
  /** The folder for the files of the store. */
  readonly folder: string;
}

export function runPeer(peer: {
  readonly open: (options: OpenOptions) => Promise<Conversation>;
  readonly settings?: () => Promise<string>;
}): Promise<void>;
