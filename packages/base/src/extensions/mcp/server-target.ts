import type { HttpEntry } from './mcp-file.ts';
import type { OauthTarget } from './sign-in/server-sign-in.ts';

/** Where to reach a server, with all variables and paths resolved. */
export type ServerTarget = StdioTarget | HttpTarget;

export interface HttpTarget extends Required<Omit<HttpEntry, 'oauth'>> {
  /** Absent if the server gets no tokens of a sign-in. */
  readonly oauth?: OauthTarget;
  readonly protocol: ProtocolChoice;
}

export interface StdioTarget {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** The complete environment of the server process. */
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly protocol: ProtocolChoice;
}

/**
 * `auto` asks the server whether it supports protocol version 2026-07-28 or later; `legacy` uses the handshake of 2025.
 */
export type ProtocolChoice = 'auto' | 'legacy';

/** Returns true if the user declared a token, so that the server needs no sign-in. */
export function hasToken(headers: HttpTarget['headers']): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

/** Describes the target for people, without values that may be secrets: no environment, no headers, no query. */
export function describeTarget(target: ServerTarget): string {
  if (target.type === 'stdio') return [target.command, ...target.args].map(quote).join(' ');
  const url = URL.parse(target.url);
  return url === null ? 'an invalid address' : `${url.origin}${url.pathname}`;
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word);
}
