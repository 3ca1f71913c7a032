/** Reads what a person typed at a question. Nothing but a clear yes is a yes. Pure. */
import type { AlwaysScope } from '@goondan/types';
import { shorten } from '../shorten.ts';
import { showText } from './show-text.ts';
import type { AskedKind } from './wording.ts';

export type TypedKey =
  | { readonly type: 'yes' | 'edit' | 'always' | 'unclear' }
  /** `note`: the reason. */
  | { readonly type: 'no'; readonly note?: string };

/** Enter alone, and everything that is not a key of this kind of question, is unclear. */
export function readKey(text: string, kind: AskedKind): TypedKey {
  const typed = text.trim();
  if (/^y(es)?$/i.test(typed)) return { type: 'yes' };
  const [isNo, note = ''] = /^no?(?:[\s,;:.!]+([^]*))?$/i.exec(typed) ?? [];
  if (isNo !== undefined) return note === '' ? { type: 'no' } : { type: 'no', note };
  if (/^e(dit)?$/i.test(typed) && (kind === 'call' || kind === 'form')) return { type: 'edit' };
  if (/^a(lways)?$/i.test(typed) && kind === 'call') return { type: 'always' };
  return { type: 'unclear' };
}

/** Says that a line was not understood. Enter alone asks for the keys. */
export function describeUnclear(typed: string): string {
  const said = shorten(showText(typed), LONGEST_QUOTED);
  return said === '' ? 'Type one of these keys:' : `"${said}" was not understood. Type one of these keys:`;
}

const LONGEST_QUOTED = 40;

/** Returns `back` for Enter alone, and `undefined` for everything that is neither a choice nor its first letter. */
export function readAlways(text: string, choices: readonly AlwaysScope[]): AlwaysScope | 'back' | undefined {
  const typed = text.trim().toLowerCase();
  if (typed === '') return 'back';
  return choices.find((scope) => typed === scope || typed === scope.charAt(0));
}
